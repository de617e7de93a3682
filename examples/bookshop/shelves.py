"""The shop's tables in SQLite: books, carts, orders, refunds, customers. Money is in cents."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

SCHEMA = """
CREATE TABLE IF NOT EXISTS books (
  id INTEGER PRIMARY KEY, title TEXT, author TEXT, price INTEGER, pages INTEGER, year INTEGER, rating REAL,
  language TEXT, translated_by TEXT
);
CREATE TABLE IF NOT EXISTS cart_lines (
  sub TEXT, book_id INTEGER, quantity INTEGER, PRIMARY KEY (sub, book_id)
);
CREATE TABLE IF NOT EXISTS orders (
  id INTEGER PRIMARY KEY, sub TEXT, conversation_id TEXT, created_at REAL, total INTEGER, coupon TEXT, name TEXT,
  street TEXT, city TEXT
);
CREATE INDEX IF NOT EXISTS orders_by_customer ON orders (sub);
CREATE TABLE IF NOT EXISTS order_lines (order_id INTEGER, book_id INTEGER, quantity INTEGER, price INTEGER);
CREATE INDEX IF NOT EXISTS lines_by_order ON order_lines (order_id);
CREATE TABLE IF NOT EXISTS refunds (
  id INTEGER PRIMARY KEY, order_id INTEGER UNIQUE, amount INTEGER, reason TEXT, created_at REAL
);
CREATE TABLE IF NOT EXISTS customers (sub TEXT PRIMARY KEY, newsletter INTEGER, stepped_up_at REAL);
"""
FIRST_ORDER = 10_001

# title, author, cents, pages, year, rating, language of the original, translator
BOOKS = [
    ("Moby-Dick", "Herman Melville", 1490, 720, 1851, 4.2, "en", None),
    ("Middlemarch", "George Eliot", 1290, 880, 1871, 4.6, "en", None),
    ("Jane Eyre", "Charlotte Brontë", 990, 532, 1847, 4.7, "en", None),
    ("Wuthering Heights", "Emily Brontë", 990, 416, 1847, 4.1, "en", None),
    ("Pride and Prejudice", "Jane Austen", 890, 480, 1813, 4.8, "en", None),
    ("Persuasion", "Jane Austen", 890, 288, 1817, 4.5, "en", None),
    ("Bleak House", "Charles Dickens", 1390, 1088, 1853, 4.3, "en", None),
    ("Great Expectations", "Charles Dickens", 1090, 544, 1861, 4.2, "en", None),
    ("Frankenstein", "Mary Shelley", 790, 288, 1818, 4.4, "en", None),
    ("The Time Machine", "H. G. Wells", 690, 128, 1895, None, "en", None),
    ("Walden", "Henry David Thoreau", 1150, 352, 1854, 3.9, "en", None),
    ("Leaves of Grass", "Walt Whitman", 1650, 624, 1855, None, "en", None),
    ("Anna Karenina", "Leo Tolstoy", 1590, 964, 1878, 4.7, "ru", "Constance Garnett"),
    ("War and Peace", "Leo Tolstoy", 2290, 1392, 1869, 4.6, "ru", "Louise and Aylmer Maude"),
    ("The Brothers Karamazov", "Fyodor Dostoevsky", 1690, 824, 1880, 4.8, "ru", "Constance Garnett"),
    ("Fathers and Sons", "Ivan Turgenev", 990, 256, 1862, 4.1, "ru", "Constance Garnett"),
    ("Madame Bovary", "Gustave Flaubert", 1190, 384, 1857, 4.0, "fr", "Eleanor Marx-Aveling"),
    ("The Red and the Black", "Stendhal", 1290, 576, 1830, None, "fr", "C. K. Scott-Moncrieff"),
    ("Les Misérables", "Victor Hugo", 2490, 1232, 1862, 4.7, "fr", "Isabel F. Hapgood"),
    ("Faust", "Johann Wolfgang von Goethe", 1190, 464, 1808, 4.0, "de", "Bayard Taylor"),
    ("Effi Briest", "Theodor Fontane", 1090, 256, 1895, None, "de", "William A. Cooper"),
    ("Don Quixote", "Miguel de Cervantes", 2190, 1072, 1605, 4.3, "es", "John Ormsby"),
    ("The Divine Comedy", "Dante Alighieri", 1890, 752, 1321, 4.4, "it", "H. W. Longfellow"),
    ("The Decameron", "Giovanni Boccaccio", 1790, 1072, 1353, 3.8, "it", "John Payne"),
]

Row = sqlite3.Row


class Shelves:
    """One connection behind a lock: enough for a small shop."""

    def __init__(self, database: str) -> None:
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {SCHEMA}")
        rows = [(101 + n, *book) for n, book in enumerate(BOOKS)]
        self._connection.executemany("INSERT OR IGNORE INTO books VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def fetch_all(self, sql: str, *values: Any) -> Sequence[Row]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def fetch_one(self, sql: str, *values: Any) -> Row | None:
        with self._lock:
            return self._connection.execute(sql, values).fetchone()

    def search(self, words: str) -> Sequence[Row]:
        like = f"%{words}%"
        return self.fetch_all("SELECT * FROM books WHERE title LIKE ? OR author LIKE ? ORDER BY title", like, like)

    def find_book(self, book_id: int) -> Row | None:
        return self.fetch_one("SELECT * FROM books WHERE id = ?", book_id)

    def list_cart(self, sub: str) -> Sequence[Row]:
        sql = "SELECT id, title, price, quantity FROM cart_lines JOIN books ON id = book_id WHERE sub = ? ORDER BY id"
        return self.fetch_all(sql, sub)

    def put_in_cart(self, sub: str, book_id: int, quantity: int) -> None:
        self.fetch_one("INSERT OR REPLACE INTO cart_lines VALUES (?, ?, ?)", sub, book_id, quantity)

    def take_out_of_cart(self, sub: str, book_id: int) -> None:
        self.fetch_one("DELETE FROM cart_lines WHERE sub = ? AND book_id = ?", sub, book_id)

    def order_cart(
        self, sub: str, conversation_id: str, ship_to: dict[str, str], coupon: str | None, ordered_at: float
    ) -> int:
        """Turn the cart into an order and empty it. Return the order's id."""
        with self._lock, self._connection:
            self._connection.execute("BEGIN")
            total = sum(line["price"] * line["quantity"] for line in self.list_cart(sub))
            ((order_id,),) = self.fetch_all("SELECT coalesce(max(id), ?) + 1 FROM orders", FIRST_ORDER - 1)
            address = (ship_to["name"], ship_to["street"], ship_to["city"])
            self.fetch_one(
                "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                order_id, sub, conversation_id, ordered_at, total, coupon, *address,
            )  # fmt: skip
            self.fetch_one(
                "INSERT INTO order_lines SELECT ?, id, quantity, price FROM cart_lines JOIN books ON id = book_id "
                "WHERE sub = ?", order_id, sub,
            )  # fmt: skip
            self.fetch_one("DELETE FROM cart_lines WHERE sub = ?", sub)
        return order_id

    def list_orders(self, sub: str) -> Sequence[Row]:
        return self.fetch_all("SELECT * FROM orders WHERE sub = ? ORDER BY id DESC LIMIT 20", sub)

    def find_order(self, sub: str, order_id: int) -> Row | None:
        return self.fetch_one("SELECT * FROM orders WHERE id = ? AND sub = ?", order_id, sub)

    def list_order_lines(self, order_id: int) -> Sequence[Row]:
        sql = (
            "SELECT id, title, order_lines.price AS price, quantity FROM order_lines JOIN books ON id = book_id "
            "WHERE order_id = ? ORDER BY id"
        )
        return self.fetch_all(sql, order_id)

    def find_refund(self, order_id: int) -> Row | None:
        return self.fetch_one("SELECT * FROM refunds WHERE order_id = ?", order_id)

    def insert_refund(self, order_id: int, amount: int, reason: str, refunded_at: float) -> None:
        """Insert a refund, unless the order has one."""
        self.fetch_one("INSERT OR IGNORE INTO refunds VALUES (NULL, ?, ?, ?, ?)", order_id, amount, reason, refunded_at)

    def get_customer(self, sub: str) -> Row:
        self.fetch_one("INSERT OR IGNORE INTO customers VALUES (?, 0, 0)", sub)
        customer = self.fetch_one("SELECT * FROM customers WHERE sub = ?", sub)
        assert customer is not None  # the statement above inserts the customer
        return customer

    def subscribe(self, sub: str, newsletter: bool) -> None:
        self.get_customer(sub)
        self.fetch_one("UPDATE customers SET newsletter = ? WHERE sub = ?", newsletter, sub)

    def record_step_up(self, sub: str, stepped_up_at: float) -> None:
        self.get_customer(sub)
        self.fetch_one("UPDATE customers SET stepped_up_at = ? WHERE sub = ?", stepped_up_at, sub)
