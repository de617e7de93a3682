"""The backend of a small bookshop, protected by `affidavit`: search, cart, orders, refunds (WSGI and SQLite)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode

from affidavit import (
    Intent,
    IntentVerifier,
    MemoryDeliveries,
    MemoryNonces,
    Protection,
    SqliteDeliveries,
    SqliteNonces,
)
from affidavit.contrib.wsgi import IntentMiddleware, WitnessMiddleware, current_intent, intent_required
from examples.bookshop.release import apply_release
from examples.bookshop.reporting import Reporters
from examples.bookshop.shelves import Row, Shelves

STEP_UP_PATH = "/account/step-up"
STEP_UP_LASTS = 300  # seconds after the PIN was entered
BOOKS_PER_PAGE = 5
DISPATCHED_AFTER = 3600  # seconds after the order was placed

Answer = tuple[Any, int, list[tuple[str, str]]]


@dataclass(frozen=True)
class Settings:
    """The settings that connect a shop with its workspace. The hub shows the first four when it creates the workspace.

    database: a file, or `:memory:`.
    released_at: Unix seconds from which release.py applies.
    """

    workspace: str
    environment: str
    audience: str
    signing_secret: str
    database: str = ":memory:"
    released_at: float = float("inf")


class Route(NamedTuple):
    """A route that matches a path.

    rule: its template.
    identifiers: the numbers in the path.
    """

    method: str
    rule: str
    view: Callable[..., Answer]
    identifiers: Sequence[int]


class Refusal(Exception):
    """A request that cannot be fulfilled; answered as JSON."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error


class Bookshop:
    """The WSGI app."""

    def __init__(
        self,
        settings: Settings,
        reporters: Reporters,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.shelves = Shelves(settings.database)
        self._outcomes = reporters.outcomes
        self._settings = settings
        self._now = now
        self._routes = [(method, rule, compile_rule(rule), view) for method, rule, view in self._list_views()]
        protected_app = IntentMiddleware(self._answer, self._protection(reporters.verifications))
        self._wsgi = WitnessMiddleware(protected_app, reporters.witness)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if matches := self._match_path(environ["PATH_INFO"]):
            # The route is set before the intent is verified. So reports of rejected calls name their operation, too.
            environ["affidavit.route"] = matches[0].rule
        return self._wsgi(environ, start_response)

    def _protection(self, verifications: Any) -> Protection:
        settings, stores = self._settings, build_stores(self._settings.database)
        verifier = IntentVerifier(
            secrets=settings.signing_secret,
            workspace=settings.workspace,
            audience=settings.audience,
            nonces=stores[0],
            step_up=self._is_stepped_up,
            now=self._now,
        )
        return Protection(
            verifier, stores[1], reports=verifications, exempt=lambda _, path: path == STEP_UP_PATH, now=self._now
        )

    def _is_stepped_up(self, intent: Intent, request: Any) -> bool:
        """Return whether this customer has entered the PIN in the last STEP_UP_LASTS seconds."""
        return self._now() - self.shelves.get_customer(intent.sub or "")["stepped_up_at"] < STEP_UP_LASTS

    def _list_views(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        return [
            ("GET", "/books", self.search),
            ("GET", "/books/<int:bookId>", self.book),
            ("GET", "/cart", self.cart),
            ("POST", "/cart/lines", self.put_in_cart),
            ("DELETE", "/cart/lines/<int:lineId>", self.take_out_of_cart),
            ("GET", "/orders", self.orders),
            ("POST", "/orders", self.place_order),
            ("GET", "/orders/<int:orderId>", self.order),
            # Refunds demand version 2, which binds the customer and the arguments.
            ("POST", "/refunds", intent_required(self.refund, minimum_version=2)),
            ("GET", "/account", self.account),
            ("PATCH", "/account", self.change_account),
            ("POST", STEP_UP_PATH, self.step_up),
        ]

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            body, status, headers = self._dispatch(environ)
        except Refusal as refusal:
            body, status, headers = {"error": refusal.error}, refusal.status, []
        except (KeyError, TypeError, ValueError):  # arguments are missing or of another type
            body, status, headers = {"error": "invalid-arguments"}, 400, []
        if not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), [*headers, ("Content-Type", "application/json")]
        start_response(f"{status} {HTTPStatus(status).phrase}", [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def _dispatch(self, environ: dict[str, Any]) -> Answer:
        method, matches = environ["REQUEST_METHOD"], self._match_path(environ["PATH_INFO"])
        for route in matches:
            if route.method == method:
                query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
                body, *rest = route.view(*route.identifiers, arguments={**query, **read_body(environ)})
                is_released = self._now() >= self._settings.released_at
                return apply_release(method, route.rule, body) if is_released else body, *rest
        raise Refusal(405, "method-not-allowed") if matches else Refusal(404, "not-found")

    def _match_path(self, path: str) -> list[Route]:
        """Return the routes of a path, which differ in their methods."""
        return [
            Route(method, rule, view, [int(text) for text in match.groups()])
            for method, rule, pattern, view in self._routes
            if (match := pattern.fullmatch(path))
        ]

    def search(self, arguments: Mapping[str, Any]) -> Answer:
        words, start = str(arguments.get("q", "")), int(arguments.get("start", 0))
        books = self.shelves.search(words)
        next_query = urlencode({"q": words, "start": start + BOOKS_PER_PAGE})
        page = books[start : start + BOOKS_PER_PAGE]
        next_page = f"/books?{next_query}" if len(books) > start + BOOKS_PER_PAGE else None
        return {"books": [summarize_book(book) for book in page], "total": len(books), "next": next_page}, 200, []

    def book(self, book_id: int, arguments: Mapping[str, Any]) -> Answer:
        book = self.shelves.find_book(book_id)
        if book is None:
            raise Refusal(404, "no-such-book")
        translation = {"from": book["language"], "by": book["translated_by"]} if book["translated_by"] else None
        details = {"pages": book["pages"], "published": book["year"], "translation": translation}
        return {**summarize_book(book), **details, "formats": ["paperback", "e-book"]}, 200, []

    def cart(self, arguments: Mapping[str, Any]) -> Answer:
        return self._format_cart(current_intent().sub or "anonymous"), 200, []

    def put_in_cart(self, arguments: Mapping[str, Any]) -> Answer:
        sub = require_customer()
        if self.shelves.find_book(arguments["bookId"]) is None:
            raise Refusal(404, "no-such-book")
        if not self.shelves.list_cart(sub):
            self._report_outcome("cart_started", arguments)
        self.shelves.put_in_cart(sub, arguments["bookId"], arguments["quantity"])
        return self._format_cart(sub), 201, []

    def take_out_of_cart(self, book_id: int, arguments: Mapping[str, Any]) -> Answer:
        self.shelves.take_out_of_cart(require_customer(), book_id)
        return self._format_cart(require_customer()), 200, []

    def orders(self, arguments: Mapping[str, Any]) -> Answer:
        orders = self.shelves.list_orders(current_intent().sub or "anonymous")
        return {"orders": [{"id": row["id"], "total": format_money(row["total"])} for row in orders]}, 200, []

    def place_order(self, arguments: Mapping[str, Any]) -> Answer:
        if not self.shelves.list_cart(require_customer()):
            raise Refusal(409, "empty-cart")
        ship_to, coupon = arguments["shipTo"], arguments.get("coupon")
        conversation_id = arguments["conversationId"]
        order_id = self.shelves.order_cart(require_customer(), conversation_id, ship_to, coupon, self._now())
        self._report_outcome("purchase", arguments)
        return self._format_order(require_customer(), order_id), 201, []

    def order(self, order_id: int, arguments: Mapping[str, Any]) -> Answer:
        return self._format_order(current_intent().sub or "anonymous", order_id), 200, []

    def refund(self, arguments: Mapping[str, Any]) -> Answer:
        order = self.shelves.find_order(require_customer(), arguments["orderId"])
        if order is None:
            raise Refusal(404, "no-such-order")
        if self.shelves.find_refund(order["id"]):
            raise Refusal(409, "refunded-before")
        self.shelves.insert_refund(order["id"], order["total"], arguments["reason"], self._now())
        self._report_outcome("refund", arguments)
        return {"orderId": order["id"], "amount": format_money(order["total"]), "reason": arguments["reason"]}, 201, []

    def account(self, arguments: Mapping[str, Any]) -> Answer:
        return self._format_account(current_intent().sub or "anonymous"), 200, []

    def change_account(self, arguments: Mapping[str, Any]) -> Answer:
        self.shelves.subscribe(require_customer(), bool(arguments["newsletter"]))
        self._report_outcome("newsletter_signup", arguments)
        return self._format_account(require_customer()), 200, []

    def step_up(self, arguments: Mapping[str, Any]) -> Answer:
        """Check the PIN. This is the shop's own page and no tool call, so it needs no intent."""
        if arguments.get("pin") != compute_pin(str(arguments.get("user"))):
            raise Refusal(403, "wrong-pin")
        self.shelves.record_step_up(arguments["user"], self._now())
        return {"steppedUpFor": STEP_UP_LASTS}, 200, []

    def _report_outcome(self, key: str, arguments: Mapping[str, Any]) -> None:
        """Report an outcome if the call belongs to a conversation. Send the id unchanged, as the widget passed it."""
        if "conversationId" in arguments:
            self._outcomes.report(arguments["conversationId"], key)

    def _format_cart(self, sub: str) -> dict[str, Any]:
        lines = self.shelves.list_cart(sub)
        return {
            "lines": [*map(format_line, lines)],
            "total": format_money(sum(line["price"] * line["quantity"] for line in lines)),
        }

    def _format_order(self, sub: str, order_id: int) -> dict[str, Any]:
        order = self.shelves.find_order(sub, order_id)
        if order is None:
            raise Refusal(404, "no-such-order")
        refund, now = self.shelves.find_refund(order_id), self._now()
        is_dispatched = now > order["created_at"] + DISPATCHED_AFTER
        return {
            "id": order_id,
            "status": "refunded" if refund else "dispatched" if is_dispatched else "received",
            "placedAt": int(order["created_at"]),
            "lines": [format_line(line) for line in self.shelves.list_order_lines(order_id)],
            "total": format_money(order["total"]),
            "coupon": order["coupon"],
            "shipTo": {"name": order["name"], "street": order["street"], "city": order["city"]},
            "refund": {"amount": format_money(refund["amount"]), "reason": refund["reason"]} if refund else None,
        }

    def _format_account(self, sub: str) -> dict[str, Any]:
        orders = self.shelves.list_orders(sub)
        points = sum(order["total"] for order in orders) // 100
        newsletter = bool(self.shelves.get_customer(sub)["newsletter"])
        return {"email": f"{sub}@example.org", "points": points, "preferences": {"newsletter": newsletter}}


def compile_rule(rule: str) -> re.Pattern[str]:
    """Return a route such as `/books/<int:bookId>` as a regular expression."""
    return re.compile(re.sub(r"<int:\w+>", r"(\\d+)", rule))


def require_customer() -> str:
    """Return the customer of a write. Refuse a version 1 call that names no customer."""
    sub = current_intent().sub
    if sub is None:
        raise Refusal(403, "sign-in-first")
    return sub


def read_body(environ: dict[str, Any]) -> dict[str, Any]:
    raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return json.loads(raw) if raw else {}


def build_stores(database: str) -> tuple[Any, Any]:
    """Return the stores of nonces and deliveries. They are in the shop's database, or in memory if the database is."""
    if database == ":memory:":
        return MemoryNonces(), MemoryDeliveries()
    return SqliteNonces(database), SqliteDeliveries(database)


def summarize_book(book: Row) -> dict[str, Any]:
    summary = {name: book[name] for name in ("id", "title", "author", "rating")}
    return {**summary, "price": format_money(book["price"])}


def format_line(line: Row) -> dict[str, Any]:
    price = format_money(line["price"])
    return {"bookId": line["id"], "title": line["title"], "quantity": line["quantity"], "price": price}


def format_money(cents: int) -> dict[str, Any]:
    return {"amount": cents / 100, "currency": "EUR"}


def compute_pin(sub: str) -> str:
    """Return a customer's PIN. It follows from the name, so that the simulated customers can compute it, too."""
    return str(int(sha256(sub.encode()).hexdigest(), 16) % 10_000).zfill(4)
