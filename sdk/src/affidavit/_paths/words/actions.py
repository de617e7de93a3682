"""Words for what any API does, such as `search` and `cancel`: in a path they are part of the API."""

from __future__ import annotations

from affidavit._shapes.name_words import split_words

_ACTIONS = frozenset({
    "abort", "accept", "acknowledge", "activate", "add", "adjust", "all", "allocate", "allow", "analyze",
    "append", "apply", "approve", "archive", "assign", "associate", "attach", "authenticate", "authorize",
    "batch", "block", "bulk", "calculate", "can", "cancel", "check", "classify", "clear", "clone", "close",
    "compare", "complete", "configure", "confirm", "connect", "convert", "copy", "count", "create", "current",
    "deactivate", "deallocate", "decode", "decrement", "decrypt", "delete", "demote", "deny", "deploy",
    "deprovision", "destroy", "detach", "detect", "disable", "disassociate", "disconnect", "discover",
    "dismiss", "download", "duplicate", "edit", "enable", "encode", "encrypt", "enqueue", "enrich", "enroll",
    "estimate", "evaluate", "execute", "export", "extract", "fetch", "filter", "finalize", "find", "finish",
    "follow", "generate", "get", "health", "hide", "ignore", "import", "increment", "info", "init",
    "initialize", "initiate", "introspect", "invalidate", "invite", "join", "launch", "leave", "like", "list",
    "lock", "login", "logoff", "logon", "logout", "lookup", "me", "merge", "migrate", "modify", "move", "mute",
    "new", "open", "parse", "patch", "pause", "pin", "ping", "poll", "post", "predict", "prepare", "preview",
    "print", "promote", "provision", "publish", "purge", "put", "query", "read", "reassign", "reboot",
    "rebuild", "recognize", "recycle", "redeem", "refresh", "refund", "regenerate", "register", "reject",
    "release", "reload", "remove", "rename", "render", "renew", "reopen", "reorder", "replace", "replay",
    "reply", "resend", "reserve", "reset", "resize", "resolve", "restart", "restore", "resume", "retrieve",
    "retry", "revert", "revoke", "rollback", "rotate", "run", "save", "scan", "search", "select", "self",
    "send", "share", "show", "shutdown", "sign", "signin", "signout", "signup", "simulate", "snooze", "split",
    "star", "start", "stop", "submit", "subscribe", "suggest", "summary", "suspend", "sync", "synchronize",
    "terminate", "test", "toggle", "transfer", "translate", "trigger", "unarchive", "unassign", "unban",
    "unblock", "undelete", "undo", "unenroll", "unfollow", "unhide", "unlike", "unlink", "unlock", "unmute",
    "unpause", "unpin", "unpublish", "unregister", "unset", "unstar", "unsubscribe", "unsuspend", "update",
    "upgrade", "upload", "validate", "validation", "verify", "view", "void", "watch", "whoami",
})  # fmt: skip


def is_action(segment: str) -> bool:
    """Return whether a segment is a word for what any API does: `search`, `cancel`."""
    return segment.lower() in _ACTIONS


def begins_with_action(segment: str) -> bool:
    """Return whether the first of several words in a segment is an action, as in `generate-notes`."""
    parts = split_words(segment)
    return len(parts) > 1 and parts[0] in _ACTIONS
