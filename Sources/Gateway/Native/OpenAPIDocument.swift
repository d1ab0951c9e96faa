import Model

/// The native API's description, served at `/openapi.json`. One row per operation, so that a new route is one line here.
enum OpenAPIDocument {
    private struct Operation {
        var path: String
        var method: String
        var summary: String
        var success: String
        /// What of the answer is worth a schema.
        var answer: JSON?
    }

    private static let operations = [
        Operation(
            path: "/v1/messages",
            method: "post",
            summary:
                "Send a message to users, groups, a tag expression, a list or everyone, by their consent, now, at a time, or at {local} in each device's zone; ?preview=true shows the payload per dialect",
            success: "202"
        ),
        Operation(path: "/v1/messages/{id}", method: "get", summary: "A message's state and funnel", success: "200"),
        Operation(path: "/v1/messages/{id}", method: "delete", summary: "Cancel what is not sent yet", success: "200"),
        Operation(
            path: "/v1/messages/{id}/{control}",
            method: "post",
            summary: "pause, resume, cancel what is not sent yet, or requeue what gave up",
            success: "200"
        ),
        Operation(
            path: "/v1/messages/{id}/deliveries",
            method: "get",
            summary: "Deliveries, by keyset pages",
            success: "200"
        ),
        Operation(
            path: "/v1/messages/{id}/deliveries/{target}",
            method: "get",
            summary: "One delivery, explained",
            success: "200"
        ),
        Operation(
            path: "/v1/devices",
            method: "post",
            summary: "Register or update a device with its token, tags, timeZone and receivingWindow",
            success: "201"
        ),
        Operation(path: "/v1/devices", method: "get", summary: "Devices, by keyset pages", success: "200"),
        Operation(
            path: "/v1/devices/{id}",
            method: "get",
            summary: "One device with its identities, and how many of its messages are unread",
            success: "200",
            answer: [
                "type": "object",
                "properties": [
                    "unread": [
                        "type": "integer", "minimum": 0, "maximum": .int(HistoryPage.lookLimit),
                        "description":
                            "Messages of this device that nobody read, whoever used it: of its newest 1000. In no list of devices",
                    ]
                ],
            ]
        ),
        Operation(
            path: "/v1/devices/{id}",
            method: "patch",
            summary: "Change preference, user, name, phone, tags, timeZone or receivingWindow",
            success: "200"
        ),
        Operation(
            path: "/v1/devices/{id}",
            method: "delete",
            summary: "Erase a device, with an audit row",
            success: "204"
        ),
        Operation(
            path: "/v1/devices/{id}/inbox",
            method: "get",
            summary: "A device's messages, newest first",
            success: "200"
        ),
        Operation(path: "/v1/users/{id}", method: "delete", summary: "Erase a user everywhere", success: "200"),
        Operation(
            path: "/v1/apps/{app}/users/{user}",
            method: "get",
            summary: "What is known of a user: attributes, consents, aliases, what it did and how often, devices",
            success: "200"
        ),
        Operation(
            path: "/v1/apps/{app}/users/{user}",
            method: "patch",
            summary: "Change a user's attributes (null takes one away) and whether its devices are rung",
            success: "200"
        ),
        Operation(
            path: "/v1/apps/{app}/consents",
            method: "post",
            summary: "Note what users said to a subject: subscribed or unsubscribed",
            success: "200"
        ),
        Operation(
            path: "/v1/apps/{app}/consents/{user}",
            method: "get",
            summary: "What a user said, by subject",
            success: "200"
        ),
        Operation(
            path: "/v1/apps/{app}/groups/{group}",
            method: "put",
            summary: "Make a group of users unless it is there",
            success: "201"
        ),
        Operation(
            path: "/v1/apps/{app}/groups/{group}",
            method: "get",
            summary: "A group with its maintained count of members",
            success: "200"
        ),
        Operation(path: "/v1/apps/{app}/groups/{group}", method: "delete", summary: "Delete a group", success: "204"),
        Operation(
            path: "/v1/apps/{app}/groups/{group}/members",
            method: "post",
            summary: "Take users out of a group (remove), then others in (add), 1000 at most",
            success: "200"
        ),
        Operation(
            path: "/v1/campaigns",
            method: "get",
            summary: "Campaigns of a dialect, after an id; ?app=&vendor=&after=&limit=",
            success: "200"
        ),
        Operation(
            path: "/v1/campaigns",
            method: "post",
            summary: "Make a campaign with an id of the gateway's; ?app=&vendor=",
            success: "201"
        ),
        Operation(path: "/v1/campaigns/{id}", method: "get", summary: "A campaign; ?app=&vendor=", success: "200"),
        Operation(
            path: "/v1/campaigns/{id}",
            method: "put",
            summary: "Make a campaign or write it anew: name, and what the dialect sends; ?app=&vendor=",
            success: "200"
        ),
        Operation(
            path: "/v1/campaigns/{id}",
            method: "delete",
            summary: "Remove a campaign; ?app=&vendor=",
            success: "204"
        ),
        Operation(path: "/v1/receipts", method: "post", summary: "Report received or read", success: "200"),
        Operation(path: "/v1/media/{hash}", method: "put", summary: "Store an image under its SHA-256", success: "201"),
        Operation(
            path: "/v1/imports",
            method: "post",
            summary: "Register the devices of an NDJSON or CSV body; ?app=&vendor=&dryRun=&after=",
            success: "200"
        ),
        Operation(path: "/v1/audit", method: "get", summary: "Who did what, after a position", success: "200"),
        Operation(
            path: "/v1/captures",
            method: "post",
            summary: "Record what callers of a binding send, masked: app, vendor, minutes, exchanges, texts",
            success: "201"
        ),
        Operation(path: "/v1/captures", method: "get", summary: "All captures, newest first", success: "200"),
        Operation(
            path: "/v1/captures/{id}",
            method: "get",
            summary: "A capture with a page of its exchanges, after a number",
            success: "200"
        ),
        Operation(path: "/v1/captures/{id}", method: "delete", summary: "Remove a capture", success: "204"),
        Operation(path: "/v1/captures/{id}/stop", method: "post", summary: "End a capture", success: "200"),
        Operation(path: "/v1/analytics/funnel", method: "get", summary: "The funnel per app and day", success: "200"),
        Operation(
            path: "/v1/events",
            method: "get",
            summary:
                "Events as NDJSON after an offset, of some kinds or an app; ?follow=true goes on as they happen, ?format=currents spells them as readers of Braze's Currents know them",
            success: "200"
        ),
        Operation(path: "/v1/webhooks", method: "post", summary: "Subscribe an address to events", success: "201"),
        Operation(path: "/v1/webhooks", method: "get", summary: "All webhooks and how they fare", success: "200"),
        Operation(path: "/v1/webhooks/{id}", method: "get", summary: "One webhook", success: "200"),
        Operation(
            path: "/v1/webhooks/{id}",
            method: "patch",
            summary: "Change address, kinds, or pause and resume",
            success: "200"
        ),
        Operation(path: "/v1/webhooks/{id}", method: "delete", summary: "Remove a webhook", success: "204"),
        Operation(
            path: "/v1/webhooks/{id}/replay",
            method: "post",
            summary: "Tell everything after an offset again",
            success: "200"
        ),
    ]

    private static let problem: JSON = [
        "description": "Problem details (RFC 9457)", "content": ["application/problem+json": [:]],
    ]

    static let json: JSON = {
        var paths = JSONObject()
        for operation in operations {
            var entry = paths[operation.path]?.object ?? JSONObject()
            var done: JSONObject = ["description": "Done"]
            done["content"] = operation.answer.map { .pairs(["application/json": .pairs(["schema": $0])]) }
            entry[operation.method] = [
                "summary": .string(operation.summary), "security": [["bearer": []]],
                "parameters": .array(parameters(operation.path)),
                "responses": .object(
                    JSONObject([(operation.success, .object(done)), ("default", problem)])
                ),
            ]
            paths[operation.path] = .object(entry)
        }
        return [
            "openapi": "3.1.0", "info": ["title": "push-gateway", "version": .string(GatewayVersion.text)],
            "paths": .object(paths),
            "components": ["securitySchemes": ["bearer": ["type": "http", "scheme": "bearer"]]],
        ]
    }()

    private static func parameters(_ path: String) -> [JSON] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            [
                "name": .string(String($0.dropFirst().dropLast())), "in": "path", "required": true,
                "schema": ["type": "string"],
            ]
        }
    }
}
