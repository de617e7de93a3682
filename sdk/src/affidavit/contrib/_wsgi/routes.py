"""The route of a request in Flask, or in another user of Werkzeug's router."""

from .environ import Environ

_RULE = "affidavit.route"
_FOUND_RULE = "affidavit.found_rule"
_OWN_CONVERTERS = "werkzeug.routing."


def has_no_route(environ: Environ) -> bool:
    """Return whether Flask found no route: an unknown path, or one to redirect."""
    return getattr(environ.get("werkzeug.request"), "url_rule", "") is None


def find_rule(environ: Environ, prefix: str, path_info: str) -> str | None:
    """Return the route that Flask, or another user of Werkzeug's router, found; None if it is unknown.

    It is unknown, too, if the app is mounted in an app of the server: what that took from the path may be a value.

    prefix, path_info: SCRIPT_NAME and PATH_INFO as the server gave them.

    Flask forgets the route at the end of the request. Therefore this function also keeps it in the environ, where an
    outer middleware finds it later.
    """
    rule = getattr(getattr(environ.get("werkzeug.request"), "url_rule", None), "rule", None)
    if isinstance(rule, str):
        environ[_FOUND_RULE] = rule, environ.get("SCRIPT_NAME", ""), environ.get("PATH_INFO", "")
    if _FOUND_RULE not in environ:
        own_rule: str | None = environ.get(_RULE)
        return own_rule
    found_rule: str
    found_rule, routed_prefix, routed_path_info = environ[_FOUND_RULE]
    is_mounted = routed_prefix != prefix and routed_path_info != path_info
    return None if is_mounted else found_rule


def match_rule(app: object, environ: Environ) -> str | None:
    """Return the route of a call that was refused before Flask saw it; None if no route fits.

    No code of the app runs, because none may run before an intent held. So the route of an app that has converters of
    its own is unknown.

    app: what the middleware wraps, as `app.wsgi_app` of Flask.
    """
    routes = getattr(getattr(app, "__self__", app), "url_map", None)
    converters = getattr(routes, "converters", None)
    if routes is None or not isinstance(converters, dict):
        return None
    if not all(converter.__module__.startswith(_OWN_CONVERTERS) for converter in converters.values()):
        return None
    try:
        rule, _ = routes.bind_to_environ(environ).match(return_rule=True)
    except Exception:  # mostly werkzeug's NotFound, MethodNotAllowed and RequestRedirect
        return None
    path: str = rule.rule
    return path
