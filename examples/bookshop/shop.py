"""The backend of a small bookshop, protected by `affidavit`: search, cart, orders, refunds (WSGI and SQLite)."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode

from affidavit import (
    Intent,
    IntentVerifier,
    MemoryDeliveries,
    MemoryNonces,
    Protection,
    SqlDeliveries,
    SqlNonces,
)
from affidavit.contrib.wsgi import IntentMiddleware, WitnessMiddleware, current_intent, intent_required
from examples.bookshop.release import released
from examples.bookshop.reporting import Reporters
from examples.bookshop.shelves import Row, Shelves

STEP_UP_PATH = "/account/step-up"
STEP_UP_LASTS = 300  # seconds
AT_ONCE = 5  # books on one page of a search
DISPATCHED_AFTER = 3600  # seconds

Answer = tuple[Any, int, list[tuple[str, str]]]


@dataclass(frozen=True)
class Settings:
    """Everything that ties a shop to its workspace; what the hub said when the workspace was made.

    database: a file, or `:memory:`. released_at: from when on (Unix seconds) the shop answers as of release.py.
    """

    workspace: str
    environment: str
    audience: str
    signing_secret: str
    database: str = ":memory:"
    released_at: float = float("inf")


class Refused(Exception):
    """What a customer asked for cannot be done; answered as JSON."""

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
        self._routes = [(method, rule, pattern_of(rule), view) for method, rule, view in self._views()]
        protected = IntentMiddleware(self._answer, self._protection(reporters.verifications))
        self._wsgi = WitnessMiddleware(protected, reporters.witness)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return self._wsgi(environ, start_response)

    def _protection(self, verifications: Any) -> Protection:
        given, stores = self._settings, stores_of(self._settings.database)
        verifier = IntentVerifier(
            given.signing_secret, given.workspace, given.audience, stores[0], step_up=self._is_stepped_up, now=self._now
        )
        return Protection(
            verifier, stores[1], reports=verifications, exempt=lambda _, path: path == STEP_UP_PATH, now=self._now
        )

    def _is_stepped_up(self, intent: Intent, request: Any) -> bool:
        """Whether this customer has given the PIN in the last minutes."""
        return self._now() - self.shelves.customer(intent.sub or "")["stepped_up_at"] < STEP_UP_LASTS

    def _views(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        return [
            ("GET", "/books", self.search),
            ("GET", "/books/<int:bookId>", self.book),
            ("GET", "/cart", self.cart),
            ("POST", "/cart/lines", self.put_in_cart),
            ("DELETE", "/cart/lines/<int:lineId>", self.take_out_of_cart),
            ("GET", "/orders", self.orders),
            ("POST", "/orders", self.place_order),
            ("GET", "/orders/<int:orderId>", self.order),
            # Money goes back only on intents that name the customer and the amount: version 2.
            ("POST", "/refunds", intent_required(self.refund, minimum_version=2)),
            ("GET", "/account", self.account),
            ("PATCH", "/account", self.change_account),
            ("POST", STEP_UP_PATH, self.step_up),
        ]

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            body, status, headers = self._view_of(environ)
        except Refused as refusal:
            body, status, headers = {"error": refusal.error}, refusal.status, []
        except (KeyError, TypeError, ValueError):  # arguments that are missing or of another kind
            body, status, headers = {"error": "invalid-arguments"}, 400, []
        if not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), [*headers, ("Content-Type", "application/json")]
        start_response(f"{status} {HTTPStatus(status).phrase}", [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def _view_of(self, environ: dict[str, Any]) -> Answer:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        found = [
            (known, rule, view, match)
            for known, rule, pattern, view in self._routes
            if (match := pattern.fullmatch(path))
        ]
        for known, rule, view, match in found:
            environ["affidavit.route"] = rule  # what the witness shall call it
            if known == method:
                query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
                body, *rest = view(*map(int, match.groups()), arguments={**query, **body_of(environ)})
                is_out = self._now() >= self._settings.released_at
                return released(method, rule, body) if is_out else body, *rest
        raise Refused(405, "method-not-allowed") if found else Refused(404, "not-found")

    def search(self, arguments: Mapping[str, Any]) -> Answer:
        words, start = str(arguments.get("q", "")), int(arguments.get("start", 0))
        found = self.shelves.search(words)
        further = urlencode({"q": words, "start": start + AT_ONCE})
        page = found[start : start + AT_ONCE]
        more = f"/books?{further}" if len(found) > start + AT_ONCE else None
        return {"books": [brief(book) for book in page], "total": len(found), "next": more}, 200, []

    def book(self, book_id: int, arguments: Mapping[str, Any]) -> Answer:
        book = self.shelves.book(book_id)
        if book is None:
            raise Refused(404, "no-such-book")
        translation = {"from": book["language"], "by": book["translated_by"]} if book["translated_by"] else None
        details = {"pages": book["pages"], "published": book["year"], "translation": translation}
        return {**brief(book), **details, "formats": ["paperback", "e-book"]}, 200, []

    def cart(self, arguments: Mapping[str, Any]) -> Answer:
        return self._cart_of(current_intent().sub or "anonymous"), 200, []

    def put_in_cart(self, arguments: Mapping[str, Any]) -> Answer:
        sub = customer()
        if self.shelves.book(arguments["bookId"]) is None:
            raise Refused(404, "no-such-book")
        if not self.shelves.cart(sub):
            self._reached("cart_started", arguments)
        self.shelves.put_in_cart(sub, arguments["bookId"], arguments["quantity"])
        return self._cart_of(sub), 201, []

    def take_out_of_cart(self, book_id: int, arguments: Mapping[str, Any]) -> Answer:
        self.shelves.take_out_of_cart(customer(), book_id)
        return self._cart_of(customer()), 200, []

    def orders(self, arguments: Mapping[str, Any]) -> Answer:
        orders = self.shelves.orders(current_intent().sub or "anonymous")
        return {"orders": [{"id": row["id"], "total": money(row["total"])} for row in orders]}, 200, []

    def place_order(self, arguments: Mapping[str, Any]) -> Answer:
        if not self.shelves.cart(customer()):
            raise Refused(409, "empty-cart")
        ship_to, coupon = arguments["shipTo"], arguments.get("coupon")
        order_id = self.shelves.order_cart(customer(), arguments["conversationId"], ship_to, coupon, self._now())
        self._reached("purchase", arguments)
        return self._order_of(customer(), order_id), 201, []

    def order(self, order_id: int, arguments: Mapping[str, Any]) -> Answer:
        return self._order_of(current_intent().sub or "anonymous", order_id), 200, []

    def refund(self, arguments: Mapping[str, Any]) -> Answer:
        order = self.shelves.order(customer(), arguments["orderId"])
        if order is None:
            raise Refused(404, "no-such-order")
        if self.shelves.refund_of(order["id"]):
            raise Refused(409, "refunded-before")
        self.shelves.refund(order["id"], order["total"], arguments["reason"], self._now())
        self._reached("refund", arguments)
        return {"orderId": order["id"], "amount": money(order["total"]), "reason": arguments["reason"]}, 201, []

    def account(self, arguments: Mapping[str, Any]) -> Answer:
        return self._account_of(current_intent().sub or "anonymous"), 200, []

    def change_account(self, arguments: Mapping[str, Any]) -> Answer:
        self.shelves.subscribe(customer(), bool(arguments["newsletter"]))
        self._reached("newsletter_signup", arguments)
        return self._account_of(customer()), 200, []

    def step_up(self, arguments: Mapping[str, Any]) -> Answer:
        """The shop's own page for the PIN: no tool call, so no intent."""
        if arguments.get("pin") != pin_of(str(arguments.get("user"))):
            raise Refused(403, "wrong-pin")
        self.shelves.stepped_up(arguments["user"], self._now())
        return {"steppedUpFor": STEP_UP_LASTS}, 200, []

    def _reached(self, key: str, arguments: Mapping[str, Any]) -> None:
        """An outcome of the conversation, if there was one; the id is passed on as the widget gave it."""
        if "conversationId" in arguments:
            self._outcomes.report(arguments["conversationId"], key)

    def _cart_of(self, sub: str) -> dict[str, Any]:
        lines = self.shelves.cart(sub)
        return {
            "lines": [*map(line_of, lines)],
            "total": money(sum(line["price"] * line["quantity"] for line in lines)),
        }

    def _order_of(self, sub: str, order_id: int) -> dict[str, Any]:
        order = self.shelves.order(sub, order_id)
        if order is None:
            raise Refused(404, "no-such-order")
        refund, now = self.shelves.refund_of(order_id), self._now()
        dispatched = now > order["created_at"] + DISPATCHED_AFTER
        return {
            "id": order_id,
            "status": "refunded" if refund else "dispatched" if dispatched else "received",
            "placedAt": int(order["created_at"]),
            "lines": [line_of(line) for line in self.shelves.lines(order_id)],
            "total": money(order["total"]),
            "coupon": order["coupon"],
            "shipTo": {"name": order["name"], "street": order["street"], "city": order["city"]},
            "refund": {"amount": money(refund["amount"]), "reason": refund["reason"]} if refund else None,
        }

    def _account_of(self, sub: str) -> dict[str, Any]:
        orders = self.shelves.orders(sub)
        points = sum(order["total"] for order in orders) // 100
        newsletter = bool(self.shelves.customer(sub)["newsletter"])
        return {"email": f"{sub}@example.org", "points": points, "preferences": {"newsletter": newsletter}}


def pattern_of(rule: str) -> re.Pattern[str]:
    """`/books/<int:bookId>` as a regular expression."""
    return re.compile(re.sub(r"<int:\w+>", r"(\\d+)", rule))


def customer() -> str:
    """Whom a changing call is for; version 1 may leave that open."""
    sub = current_intent().sub
    if sub is None:
        raise Refused(403, "sign-in-first")
    return sub


def body_of(environ: dict[str, Any]) -> dict[str, Any]:
    raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return json.loads(raw) if raw else {}


def stores_of(database: str) -> tuple[Any, Any]:
    """Used nonces and kept responses: beside the orders, or in memory where those are too."""
    if database == ":memory:":
        return MemoryNonces(), MemoryDeliveries()

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(database, check_same_thread=False, timeout=10)

    nonces, deliveries = SqlNonces(connect), SqlDeliveries(connect)
    nonces.create_table()
    deliveries.create_table()
    return nonces, deliveries


def brief(book: Row) -> dict[str, Any]:
    named = {name: book[name] for name in ("id", "title", "author", "rating")}
    return {**named, "price": money(book["price"])}


def line_of(line: Row) -> dict[str, Any]:
    return {"bookId": line["id"], "title": line["title"], "quantity": line["quantity"], "price": money(line["price"])}


def money(cents: int) -> dict[str, Any]:
    return {"amount": cents / 100, "currency": "EUR"}


def pin_of(sub: str) -> str:
    """Customers of an example know their PIN by heart."""
    return str(int(sha256(sub.encode()).hexdigest(), 16) % 10_000).zfill(4)
