"""Views of ``/retention``: parse, make one domain call, answer."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, Final

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.api.retention.inputs import (
    ChangePolicyInput,
    CreatePolicyInput,
    DeletePolicyInput,
    ListRunsInput,
    PreviewInput,
    StartRunInput,
    rules_in,
)
from prism_memory.api.retention.outputs import (
    PoliciesOutput,
    PolicyOutput,
    PreviewsOutput,
    RetentionRunOutput,
    RetentionRunsOutput,
    policy_output,
    preview_output,
    run_output,
)
from prism_memory.conf import settings
from prism_memory.errors import Conflict
from prism_memory.governance import retention
from prism_memory.types import Permission, Rules

RUNS: Final = 20


class RetentionView(ScopedView):
    """What the verbs of retention are told by every request."""

    def own(self, request: Request) -> dict[str, Any]:
        """Return where the verbs work."""
        memory = self.memory(request)
        return {"using": memory.using, "scope": memory.scope}

    def act(self, request: Request) -> dict[str, Any]:
        """Return where they work, who asks, and when."""
        memory = self.memory(request)
        return self.own(request) | {"actor": memory.actor, "at": timezone.now()}


class PoliciesView(RetentionView):
    """Make a policy, and list them."""

    operations = {
        "GET": Operation(
            "list_retention_policies",
            "List the tenant's policies of retention.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: PoliciesOutput},
        ),
        "POST": Operation(
            "create_retention_policy",
            "Make a policy of retention; the next sweep applies it.",
            Permission.GOVERN,
            answers={HTTPStatus.CREATED: PolicyOutput},
            bodies=(CreatePolicyInput,),
            refusals=(HTTPStatus.CONFLICT,),
        ),
    }

    def get(self, request: Request) -> Response:
        self.query(request)
        found = retention.list_policies(**self.own(request))
        return Response({"items": [policy_output(policy) for policy in found]})

    def post(self, request: Request) -> Response:
        given = self.body(request)
        rules = Rules(**rules_in(given))
        made = retention.create_policy(**self.act(request), rules=rules, **given)
        return Response(policy_output(made), status=HTTPStatus.CREATED)


class PolicyView(RetentionView):
    """Read, change and delete one policy."""

    operations = {
        "GET": Operation(
            "get_retention_policy",
            "Read one policy of retention.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: PolicyOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
        "PATCH": Operation(
            "change_retention_policy",
            "Change a policy of retention; a sweep by it ends and begins anew.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: PolicyOutput},
            bodies=(ChangePolicyInput,),
            refusals=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        ),
        "DELETE": Operation(
            "delete_retention_policy",
            "Delete a policy of retention; what it deleted stays deleted.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            query=DeletePolicyInput,
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, policy_id: str) -> Response:
        self.query(request)
        found = retention.get_policy(**self.own(request), policy_id=known_id(policy_id))
        return Response(policy_output(found))

    def patch(self, request: Request, policy_id: str) -> Response:
        given = self.body(request)
        changed = retention.change_policy(
            **self.act(request),
            policy_id=known_id(policy_id),
            changes=rules_in(given),
            **given,
        )
        return Response(policy_output(changed))

    def delete(self, request: Request, policy_id: str) -> Response:
        given = self.query(request)
        retention.delete_policy(
            **self.act(request), policy_id=known_id(policy_id), **given
        )
        return Response(status=HTTPStatus.NO_CONTENT)


class RunsView(RetentionView):
    """Sweep now, and list the sweeps."""

    operations = {
        "GET": Operation(
            "list_retention_runs",
            "List the tenant's sweeps of retention.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RetentionRunsOutput},
            query=ListRunsInput,
        ),
        "POST": Operation(
            "start_retention_run",
            "Apply a policy now, for ten seconds at most; the next call goes on.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: RetentionRunOutput},
            bodies=(StartRunInput,),
            refusals=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
        ),
    }

    def get(self, request: Request) -> Response:
        limit = self.query(request).get("limit", RUNS)
        found = retention.list_runs(**self.own(request), limit=limit)
        return Response({"items": [run_output(run) for run in found]})

    def post(self, request: Request) -> Response:
        given, own = self.body(request), self.own(request)
        policy = retention.get_policy(**own, policy_id=given["policy"])
        if not policy.enabled:
            message = "The policy is not in force."
            raise Conflict(message, field="policy")
        swept = retention.sweep(
            using=own["using"],
            policy=policy,
            actor=self.memory(request).actor,
            batch=settings.RETENTION_BATCH,
            end=time.monotonic() + retention.RUN_SECONDS,
        )
        if swept.run_id is None:
            message = "Another process began it in this moment."
            raise Conflict(message, field="policy")
        found = retention.get_run(**own, run_id=swept.run_id)
        return Response(run_output(found))


class PreviewView(RetentionView):
    """Tell what policies would do."""

    operations = {
        "GET": Operation(
            "preview_retention",
            "Tell what policies of retention would delete now, and what holds keep.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: PreviewsOutput},
            query=PreviewInput,
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request) -> Response:
        given, own, at = self.query(request), self.own(request), timezone.now()
        if "policy" in given:
            policy = retention.get_policy(**own, policy_id=given["policy"])
            found = [retention.preview_policy(using=own["using"], policy=policy, at=at)]
        else:
            found = retention.preview_policies(**own, at=at)
        return Response({"items": [preview_output(one) for one in found]})
