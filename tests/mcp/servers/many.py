"""A server without any library that offers as many tools as it is told, in pages of 100: ``many.py COUNT [circle]``."""

import json
import sys

COUNT, CIRCLE = int(sys.argv[1]), len(sys.argv) > 2

for line in sys.stdin:
    asked = json.loads(line)
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}, "prompts": {}}}
    elif asked["method"] == "tools/list":
        first = int(asked["params"].get("cursor", 0))
        last = min(first + 100, COUNT)
        result = {"tools": [{"name": f"tool{n}", "inputSchema": {"type": "object"}} for n in range(first, last)]}
        if last < COUNT:
            result["nextCursor"] = "0" if CIRCLE and first else str(last)
    elif asked["method"] == "prompts/list":
        result = {"prompts": []}
    elif asked["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": asked["params"]["name"]}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
