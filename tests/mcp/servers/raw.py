"""A server without any library, to say what no library says: stray lines, NaN, pages, requests to the client."""

import json
import sys

SAYING = [{"role": "user", "content": {"type": "text", "text": "Say something"}}]
ASKED = {"sampling/createMessage": {"messages": SAYING, "maxTokens": 5}}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def answer(request):
    method, params, number = request.get("method"), request.get("params") or {}, request.get("id")
    if method == "initialize":
        say({"id": number, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}})
    elif method == "tools/list":
        page = int(params.get("cursor", "0"))
        result = {"tools": [{"name": f"tool{page}", "annotations": {"output": "a->b"}}]}
        say({"id": number, "result": {**result, **({"nextCursor": str(page + 1)} if page < 2 else {})}})
    elif method == "tools/call":
        call(number, params["name"], params)


def call(number, name, params):
    if name == "tool0":
        print("Loading model... 完成")
        print('{"loss": 0.5}')
        value = {"score_ls": [float("nan"), None, float("inf")]}
        say({"id": number, "result": {"content": [{"type": "text", "text": json.dumps(value)}]}})
    elif name == "tool1":
        for asked in ("ping", "roots/list", "sampling/createMessage"):
            say({"id": asked, "method": asked, "params": ASKED.get(asked, {})})
        answers = [json.loads(sys.stdin.readline()) for _ in range(3)]
        say(
            {
                "id": number,
                "result": {"content": [], "structuredContent": {"answers": answers, "meta": params["_meta"]}},
            }
        )
    else:
        say({"id": number, "result": {"structuredContent": {"score_ls": [float("nan")]}}})


for line in sys.stdin:
    answer(json.loads(line))
