"""A learner of path templates, taught in a line."""

from affidavit._json import ABSENT
from affidavit._paths.learner import Learner


def learned(*exchanges):
    """A learner that has seen (method and path, response) or (method and path, response, request), all 200."""
    learner = Learner()
    for called, response, *request in exchanges:
        method, path = called.split()
        learner.learn(method, path, 200, request=request[0] if request else ABSENT, response=response)
    return learner


def template(learner, path):
    return learner.template(path).path
