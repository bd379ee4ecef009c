"""Requests as bytes: the same dictionary, pickled, that Scrapy's own disk queues keep."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict


class CannotSerialize(ValueError):
    """The request has something that cannot be pickled, or a callback that is no method of the spider."""


def serialize(request: Request, spider: Spider) -> bytes:
    """The bytes of a request. CannotSerialize says why there are none."""
    try:
        return pickle.dumps(_to_dict(request, spider), protocol=4)
    except MemoryError:
        raise
    except Exception as error:  # objects in meta or cb_kwargs may raise anything when they are pickled
        raise CannotSerialize(str(error)) from error


def kind_of(request: Request) -> str:
    """What a request has in common with others that a spider makes at the same place, for messages."""
    callback = request.callback
    name = "parse" if callback is None else getattr(callback, "__qualname__", None) or type(callback).__name__
    return f"{type(request).__name__}, callback {name}"


def deserialize(data: bytes, spider: Spider) -> Request:
    """The request again. Raises whatever its parts raise, for example if the callback was renamed."""
    return request_from_dict(pickle.loads(data), spider=spider)


def _to_dict(request: Request, spider: Spider) -> Any:
    """request.to_dict(spider=spider), which lists all members of the spider to find a callback's name."""
    if type(request).to_dict is not Request.to_dict:
        return request.to_dict(spider=spider)
    callback = _method_name(request.callback, spider)
    errback = _method_name(request.errback, spider)
    if callback is False or errback is False:
        return request.to_dict(spider=spider)
    known = {name: getattr(request, name) for name in request.attributes}
    known.update(callback=callback, errback=errback, headers=dict(request.headers))
    if type(request) is not Request:
        known["_class"] = f"{request.__module__}.{type(request).__name__}"
    return known


def _method_name(function: Callable[..., Any] | None, spider: Spider) -> str | None | bool:
    """The name of a method of the spider; None for None; False if it is not that simple."""
    if function is None:
        return None
    name = getattr(function, "__name__", "")
    inner = getattr(function, "__func__", None)
    if inner is None or getattr(getattr(spider, name, None), "__func__", None) is not inner:
        return False
    return name
