"""What the page of members says about each role."""

from __future__ import annotations

from workspaces.models import Membership

ROLE_DESCRIPTIONS = {
    Membership.VIEWER: "Reads every page except the settings",
    Membership.EDITOR: "Also sets rules, moves broken joins and decides confirmations",
    Membership.ADMIN: "Also manages keys, secrets, environments and members, and reads the audit log",
}
