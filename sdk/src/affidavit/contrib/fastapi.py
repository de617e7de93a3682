"""For FastAPI: a route that verifies the intent before FastAPI reads the body or runs a dependency (contract §3).

app.add_middleware(IntentMiddleware, protection=protection, everything=False)
router = APIRouter(route_class=IntentRoute)  # every HTTP route added to this router needs an intent

@router.post("/refunds")
async def refund(order: Order, intent: VerifiedIntent) -> Receipt: ...
"""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from affidavit._intents.intent import Intent
from affidavit.contrib.asgi import IntentMiddleware as IntentMiddleware
from affidavit.contrib.asgi import IntentRefused, find_demands, require_gate
from affidavit.contrib.asgi import WitnessMiddleware as WitnessMiddleware
from affidavit.contrib.asgi import current_intent as current_intent
from affidavit.contrib.asgi import intent_required as intent_required


async def _find_intent() -> Intent:
    """Return the verified intent of the current request, without a thread. See `current_intent`."""
    return current_intent()


VerifiedIntent: TypeAlias = Annotated[Intent, Depends(_find_intent)]
"""A parameter of a path operation or of a dependency: the verified intent of the current request."""


class IntentRoute(APIRoute):
    """A route whose intent is verified first: unsigned calls reach no validation, no dependency and no code of the app.

    WebSocket routes are of another class and stay open, because no intent covers a WebSocket.

    Pass this class as `route_class` to each APIRouter, or set it on `app.router` before the first route is added. A
    router that is included in another, or in an app, keeps the class of its own routes. Below the route's decorator,
    `intent_required` still says what a route demands. The app needs the middleware. Without it, every call raises
    RuntimeError, so that none passes unverified.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See FastAPI's "Custom Request and APIRoute class"."""
        handle = super().get_route_handler()
        demands = find_demands(self.endpoint)

        async def handle_if_admitted(request: Request) -> Response:
            try:
                await require_gate().admit(demands)
            except IntentRefused:
                return Response()  # discarded: the middleware sends the refusal in its place
            return await handle(request)

        return handle_if_admitted
