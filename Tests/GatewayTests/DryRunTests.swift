import Model
import Testing

@testable import push_gateway

/// The output of `send --dry-run` for the answer of `POST /v1/messages?preview=true`.
struct DryRunTests {
    @Test func eachDialectShowsItsHeadersAndItsBytes() {
        let native: JSON = [
            "bytes": 22, "refused": .null, "reduced": [],
            "headers": [":method": "POST", ":path": "/3/device/00", "apns-topic": "com.example.shop"],
            "payload": ["aps": ["alert": "Hi"]],
        ]
        let other: JSON = [
            "bytes": 2, "refused": "apns-topic is missing", "reduced": ["body"], "headers": JSON.object(JSONObject()),
            "payload": JSON.object(JSONObject()),
        ]
        let failed: JSON = ["error": "too large"]
        let text = DryRun.text(JSONObject([("native", native), ("rationalowl", other), ("x", failed)]))
        #expect(
            text == """
                # native, 22 bytes
                :method: POST
                :path: /3/device/00
                apns-topic: com.example.shop

                {"aps":{"alert":"Hi"}}

                # rationalowl, 2 bytes
                # refused: apns-topic is missing
                # cut to fit: body

                {}

                # x: too large
                """
        )
    }
}
