"""Make a key. Its token is in the answer to the form's POST and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.audit import LocalTimeField
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField
from prism_memory.admin.readonly import actor, private
from prism_memory.admin.tabs import tabs
from prism_memory.admin.tenanted import chosen
from prism_memory.admin.using import using
from prism_memory.errors import PrismMemoryError
from prism_memory.models import AccessKey
from prism_memory.models.choices import PermissionChoice, TrustClass
from prism_memory.types import Permission, Scope, Trust

if TYPE_CHECKING:
    from prism_memory.admin.keys import KeysAdmin


class KeyForm(forms.Form):
    """A key's bounds, which never change afterwards."""

    label = forms.CharField(
        label=_("Label"),
        max_length=200,
        help_text=_("What people recognise it by, such as “support bot, production”."),
    )
    tenant = ExactNameField(
        label=_("Tenant"), required=True, help_text=_("The key opens this tenant only.")
    )
    owner = ExactNameField(
        label=_("Owner"), help_text=_("Empty: every owner of the tenant.")
    )
    agent = ExactNameField(
        label=_("Agent"), help_text=_("Empty: every agent of the owner.")
    )
    thread = ExactNameField(label=_("Thread"), help_text=_("Empty: every thread."))
    permissions = forms.MultipleChoiceField(
        label=_("Permissions"),
        choices=PermissionChoice.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[Permission.READ.value],
    )
    trust = forms.ChoiceField(
        label=_("Trust"),
        choices=TrustClass.choices,
        initial=TrustClass.AGENT,
        help_text=_("Trust class of what is written with it; no request changes it."),
    )
    principal = ExactNameField(
        label=_("Principal"),
        help_text=_("As whom it reads restricted documents. Empty: it reads none."),
    )
    groups = forms.CharField(
        label=_("Groups"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("The principal's, one on each line; 32 at most."),
    )
    expires_at = LocalTimeField(
        label=_("Expires"), help_text=_("Empty: never. In the site's time zone.")
    )

    def create(self, request: HttpRequest) -> tuple[AccessKey, str] | None:
        """Make the key, or add what the domain refused to the errors."""
        given = self.cleaned_data
        try:
            return lifecycle.create_key(
                using=using(),
                scope=Scope(
                    given["tenant"], given["owner"], given["agent"], given["thread"]
                ),
                actor=actor(request),
                label=given["label"],
                permissions=[Permission(name) for name in given["permissions"]],
                trust=Trust(given["trust"]),
                expires_at=given["expires_at"],
                principal=given["principal"],
                groups=[name for name in given["groups"].splitlines() if name.strip()],
                at=timezone.now(),
            )
        except PrismMemoryError as error:
            field = error.field if error.field in self.fields else None
            self.add_error(field, str(error))
            return None


@sensitive_variables()
def create_view(page: KeysAdmin, request: HttpRequest) -> HttpResponse:
    """Show the form, or make the key and show its token.

    The answer to the POST itself carries the token: not a session, a message's cookie
    or an address, which would keep it.
    """
    form = KeyForm(request.POST) if request.method == "POST" else _blank(request)
    made = form.create(request) if form.is_bound and form.is_valid() else None
    context: dict[str, Any] = {"list_page": links.list_page(AccessKey)}
    if made is None:
        place = chosen(request)
        context |= {
            "title": _("Create a key"),
            "form": form,
            "place": place,
            "tenant_shown": shown(place.tenant or ""),
            "tabs": tabs(request, place.tenant, AccessKey),
        }
        return page.answer(request, "admin/prism_memory/key_add.html", context)
    key, token = made
    context |= page.row_context(request, key) | {"title": _("The new key")}
    context |= {"token": token}
    return private(
        page.answer(request, "admin/prism_memory/key_created.html", context).render()
    )


def _blank(request: HttpRequest) -> KeyForm:
    names = ("tenant", "owner", "agent", "thread")
    return KeyForm(initial={n: request.GET[n] for n in names if n in request.GET})
