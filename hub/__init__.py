"""Wiring only: settings, addresses, processes, and the pages that need several domains.

Nothing is imported here, so that the supervisor and beat, which import modules of this folder, stay small.
"""
