"""The API key of a model: from the environment, into a request's headers."""

import os

from regrade.errors import RegradeError
from regrade.models.types import ModelConfig


def read_key(model: ModelConfig) -> str | None:
    """The key in the variable that `api_key_env` names; None without one. Raises RegradeError if it is not set."""
    if model.api_key_env is None:
        return None
    key = os.environ.get(model.api_key_env, "").strip()
    if not key:
        raise RegradeError(
            f"model {model.name}: the environment variable {model.api_key_env}, which api_key_env names, is not set: "
            f"put the API key into it (export {model.api_key_env}=...) or take api_key_env out of config/models.yaml"
        )
    if not key.isascii() or not key.isprintable():
        raise RegradeError(f"model {model.name}: the key in {model.api_key_env} holds characters that no header can")
    return key


def request_headers(key: str | None) -> dict[str, str]:
    """The headers of a request with a JSON body, with the key if there is one."""
    headers = {"Content-Type": "application/json", "User-Agent": "regrade"}
    return headers | ({"Authorization": f"Bearer {key}"} if key else {})
