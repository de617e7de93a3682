"""Media types as they may be reported: known ones by name, others as a range, never a parameter (contract §4)."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from affidavit._data_detection import detect_data_kind
from affidavit._json import is_json_type

ANY = "*/*"
MAX_MEDIA_TYPES = 12  # of one part of an operation; if there are more, all of them are counted as ANY
URL_ENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_KNOWN = {
    "application": (
        "atom+xml cbor csv dns-message edi-x12 edifact fhir+json geo+json gzip hal+json http java-archive javascript"
        " jose jose+json json json-patch+json json-seq jsonl jwt ld+json manifest+json mathml+xml merge-patch+json"
        " msgpack msword ndjson octet-stream ogg parquet pdf pem-certificate-chain pgp-encrypted pgp-signature pkcs10"
        " pkcs7-mime pkcs8 pkix-cert pkix-crl postscript problem+json problem+xml protobuf rdf+xml rss+xml rtf"
        " scim+json soap+xml sparql-query sparql-results+json sql tar toml tar+gzip vnd.api+json vnd.apache.arrow.file"
        " vnd.apache.arrow.stream vnd.apache.avro vnd.apache.parquet vnd.google-earth.kml+xml vnd.google.protobuf"
        " vnd.ms-excel vnd.ms-fontobject vnd.ms-powerpoint vnd.oasis.opendocument.spreadsheet"
        " vnd.oasis.opendocument.text vnd.openxmlformats-officedocument.presentationml.presentation"
        " vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        " vnd.openxmlformats-officedocument.wordprocessingml.document vnd.rar vnd.sqlite3 wasm x-7z-compressed x-bzip2"
        " x-gzip x-iso9660-image x-javascript x-json x-msgpack x-ndjson x-protobuf x-sh x-tar x-www-form-urlencoded"
        " x-yaml x-zip-compressed xhtml+xml xml xslt+xml yaml zip zlib zstd"
    ),
    "audio": "aac flac midi mp4 mpeg ogg opus wav wave webm x-m4a x-wav",
    "font": "collection otf sfnt ttf woff woff2",
    "image": "apng avif bmp gif heic heif jp2 jpeg jpg jxl png svg+xml tiff vnd.microsoft.icon webp x-icon",
    "message": "http rfc822",
    "model": "gltf+json gltf-binary obj stl",
    "multipart": "alternative byteranges digest encrypted form-data mixed related signed",
    "text": (
        "cache-manifest calendar css csv event-stream html javascript markdown plain rtf tab-separated-values turtle"
        " uri-list vcard vtt x-component x-markdown x-vcard x-yaml xml yaml"
    ),
    "video": "mp2t mp4 mpeg ogg quicktime webm x-matroska x-msvideo",
}
_MAX_LENGTH = 255  # characters of a media type (RFC 6838, 4.2)
_SUBTYPES = {top: frozenset(subtypes.split()) for top, subtypes in _KNOWN.items()}
_CHARSET = re.compile(r"(;\s*charset)[\d*]*\s*=[^;]*", re.IGNORECASE)  # also as charset*=, or in parts, by RFC 2231
_VENDOR = re.compile(r"vnd(?:\.(?:[a-z]{1,24}(?:-[a-z]{1,24})*|v[0-9]{1,3}))+\+(?:json|xml|yaml|cbor|zip)")


@lru_cache(maxsize=1024)
def reduce_media_type(content_type: str) -> str:
    """Return the media type of a `Content-Type` in lower case without parameters; "" if there is none.

    A subtype that is neither known nor a vendor's with a structure (`vnd.github+json`) may be a value: the result is
    then a range, `text/*` or `*/*`. The result is `*/*` also for a header that is not a media type.
    """
    media_type = strip_parameters(content_type)
    if not media_type or media_type == ANY:
        return media_type
    top, _, subtype = media_type.partition("/")
    if top not in _SUBTYPES:
        return ANY
    is_vendor = top == "application" and _VENDOR.fullmatch(subtype) is not None and detect_data_kind(subtype) is None
    return media_type if subtype in _SUBTYPES[top] or is_vendor else f"{top}/*"


def bound_media_types(counts: Counter[str]) -> Counter[str]:
    """Return the counts, or one count of ANY if there are more types than are kept apart.

    Sums that are bounded after each addition are the same in any order, since ANY absorbs whatever comes later.
    """
    if ANY in counts or len(counts) > MAX_MEDIA_TYPES:
        return Counter({ANY: counts.total()})
    return counts


def is_json(media_type: str) -> bool:
    """Return whether a media type, with or without parameters, is JSON: `application/problem+json; charset=utf-8`."""
    return _is_json(media_type) if len(media_type) <= _MAX_LENGTH else _is_json.__wrapped__(media_type)


@lru_cache(maxsize=256)
def _is_json(media_type: str) -> bool:
    return is_json_type(strip_parameters(media_type))


def is_form(media_type: str) -> bool:
    """Return whether a media type, with or without parameters, is one of the two that HTML forms send."""
    return strip_parameters(media_type) in (URL_ENCODED, MULTIPART)


def is_url_encoded(media_type: str) -> bool:
    """Return whether a media type, with or without parameters, means a form without files."""
    return strip_parameters(media_type) == URL_ENCODED


def drop_parameters(content_type: str | None) -> str | None:
    """Return the part of a `Content-Type` that `reduce_media_type` reads, so that a cache keeps nothing else of it.

    Anything may be in its parameters, and each form of a browser has a boundary of its own. A type that is too long to
    be one is `*/*`.
    """
    media_type = content_type and content_type.partition(";")[0]
    return ANY if media_type and len(media_type) > _MAX_LENGTH else media_type


def strip_parameters(content_type: str) -> str:
    """Return the bare media type in lower case: `text/CSV; charset=utf-8` -> `text/csv`."""
    return content_type.partition(";")[0].strip().lower()


def name_utf8(content_type: str) -> str:
    """Return a `Content-Type` in which the charset is UTF-8, if it has one.

    What is verified is UTF-8, and no intent signs the charset, by which some frameworks decode: in UTF-7, `+ACI-` is a
    quotation mark.
    """
    return _CHARSET.sub(r"\1=utf-8", content_type)
