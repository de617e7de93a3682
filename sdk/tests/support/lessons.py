"""Short ways to teach a learner of path templates and to ask it."""

from affidavit._json import ABSENT
from affidavit._paths.learner import Learner


def learn(*exchanges):
    """Return a learner that has learned these exchanges, each with status 200.

    exchanges: ("METHOD path", response) or ("METHOD path", response, request).
    """
    learner = Learner()
    for called, response, *request in exchanges:
        method, path = called.split()
        learner.learn(method, path, 200, request=request[0] if request else ABSENT, response=response)
    return learner


def template(learner, path):
    return learner.template(path).path
