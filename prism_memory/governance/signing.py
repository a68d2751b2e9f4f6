"""Sign records that have no signature yet, or one by an older key."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from django.db import transaction

from prism_memory import audit, runs
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Misconfigured
from prism_memory.governance.findings import Findings
from prism_memory.governance.prune import tell_again
from prism_memory.governance.pruned import TRAIL
from prism_memory.governance.verify import BROKEN
from prism_memory.integrity import Keyring, State, keyring, write
from prism_memory.integrity.checking import statement
from prism_memory.models import AuditEvent, Run, RunState
from prism_memory.types import NIL, Actor, record_ref

BATCH_ROWS: Final = 500

KIND: Final = "integrity.sign"
SIGNED: Final = "integrity.sign"

Clock = Callable[[], dt.datetime]


@dataclass
class Signed:
    """What a signing did.

    Args:
        signed: Records that had no signature.
        rotated: Records whose signature was by another key, and is by the current.
        findings: Records that were left as they are: their signature is not theirs.
    """

    findings: Findings
    signed: int = 0
    rotated: int = 0
    after: uuid.UUID = field(default=NIL, repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """What a run and an event say of it."""
        wrong = self.findings.count
        return {"signed": self.signed, "rotated": self.rotated, "wrong": wrong}


@for_tenant
def sign_records(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    now: Clock,
    rotate: bool = False,
    again: bool = False,
    reason: str = "",
    batch: int = BATCH_ROWS,
) -> Signed:
    """Sign a tenant's records as they are now stored; resumable, in batches.

    To sign is to vouch. Once a tenant's records are signed, one without a signature was
    written or stripped behind the app's back: look at it before ``again``.

    Args:
        rotate: Sign with the current key also what another key signed, where that
            signature is true.
        again: Sign what has no signature although all of this tenant was signed once.

    Raises:
        Misconfigured: There is no key.
        Conflict: It was signed before, and not ``again``; or another process took the
            work up.
    """
    keys = keyring()
    if keys is None:
        raise no_key()
    done = Signed(Findings(tenant))
    if not (again or rotate):
        _refuse_again(using, tenant)
    target = keys.current if rotate else ""
    run = runs.begin(
        using=using, tenant=tenant, kind=KIND, target=target, actor=actor, at=now()
    )
    done.after = uuid.UUID(run.cursor.get("after", str(NIL)))
    done.signed, done.rotated = (run.counts.get(n, 0) for n in ("signed", "rotated"))
    step = partial(_step, using, tenant, keys, run, done)
    with runs.failing(run, using=using):
        while step(rotate=rotate, unsigned=again or not rotate, batch=batch, at=now()):
            pass
        _finish(using, run, done, actor, now(), reason)
    tell_again(using=using, tenant=tenant, actor=actor, at=now())
    return done


def _refuse_again(using: str, tenant: str) -> None:
    done = Run.objects.using(using).filter(
        tenant=tenant, kind=KIND, target="", state=RunState.DONE
    )
    # A run is no part of the chain of seals, the event is.
    told = AuditEvent.objects.using(using).filter(
        tenant=tenant, target=TRAIL, action=SIGNED, detail__rotate=""
    )
    if done.exists() or told.exists():
        message = (
            "All records were signed before: what has no signature now was written,"
            " or stripped of it, behind the application's back. See verify; to sign"
            " it, say again."
        )
        raise Conflict(message, field="again")


def _step(  # noqa: PLR0913 - keywords
    using: str,
    tenant: str,
    keys: Keyring,
    run: Run,
    done: Signed,
    *,
    rotate: bool,
    unsigned: bool,
    batch: int,
    at: dt.datetime,
) -> bool:
    """Sign one batch, in a transaction; tell whether there may be more."""
    given = {
        "tenant": tenant,
        "after": done.after,
        "rotate": rotate,
        "key": keys.current,
        "rows": batch,
    }
    with transaction.atomic(using=using):
        found = queries.fetch(using, named("integrity")["unsigned"], given)
        page = [row["id"] for row in found]
        if not page:
            return False
        locked = {"tenant": tenant, "record_ids": page}
        rows = queries.fetch(using, statement("locked"), locked)
        write(using, tenant, keys, _chosen(tenant, keys, rows, done, unsigned=unsigned))
        done.after = page[-1]
        cursor = {"after": str(done.after)}
        runs.advance(run, using=using, cursor=cursor, counts=done.counts, at=at)
    return True


def _chosen(
    tenant: str,
    keys: Keyring,
    rows: Sequence[Mapping[str, Any]],
    done: Signed,
    *,
    unsigned: bool,
) -> list[Mapping[str, Any]]:
    """Return the rows that may be signed; note those that may not."""
    chosen: list[Mapping[str, Any]] = []
    for row in rows:
        state = keys.state_of_record(tenant, row)
        if state is State.UNSIGNED and unsigned:
            done.signed += 1
        elif state is State.INTACT and row["mac_key"] == keys.current:
            continue  # signed by its writer, before it was locked here
        elif state is State.INTACT:
            done.rotated += 1
        else:
            done.findings.add(BROKEN[state], record_ref(row["id"]))
            continue
        chosen.append(row)
    return chosen


def _finish(
    using: str, run: Run, done: Signed, actor: Actor, at: dt.datetime, reason: str
) -> None:
    with transaction.atomic(using=using):
        audit.record(
            using=using,
            tenant=run.tenant,
            actor=actor,
            action=SIGNED,
            target=TRAIL,
            at=at,
            reason=reason,
            detail={**done.counts, "rotate": run.target},
        )
        runs.finish(run, using=using, state=RunState.DONE, at=at)


def no_key() -> Misconfigured:
    """Return what is raised where nothing can be signed."""
    message = "There is no key: set INTEGRITY_KEYS."
    return Misconfigured(message, field="INTEGRITY_KEYS")
