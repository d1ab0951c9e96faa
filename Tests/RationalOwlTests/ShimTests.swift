import Coverage
import Model
import RationalOwl
import Testing

/// The calls of the shim that the contract lists in a table: their commands and their answers.
struct ShimTests {
    private static func request(_ call: String, _ fields: JSON) -> VendorRequest {
        var body: JSONObject = ["sId": "S", "dRId": "D"]
        for (key, value) in fields.object?.pairs ?? [] { body[key] = value }
        return Mount.request("/ro/v1/\(call)", body: JSONWriter.bytes(.object(body)))
    }

    /// Expects that the call becomes the command, and its replies the answer.
    private func expect(_ call: String, _ fields: JSON, _ command: Command, _ replies: [Reply], _ answer: JSON) throws {
        let request = Self.request(call, fields)
        #expect(try Mount.adapter.decode(request, settings: BindingSettings()) == [command])
        for reply in replies {
            let response = Mount.answer(request, reply)
            #expect(response.status == 200)
            #expect(try Mount.body(response) == answer, "\(call)")
        }
    }

    @Test(.covers("rationalowl", "/ro/v1/device/token")) func aTokenIsRenewed() throws {
        let token = try #require(DeviceToken(apns: "ab01"))
        try expect(
            "device/token",
            ["tk": "AB01", "env": "dev"],
            .registration(.updateToken(key: "D", token: token, environment: .sandbox)),
            [.registration(.tokenUpdated)],
            ["rc": 1]
        )
        let unknown = Mount.answer(Self.request("device/token", ["tk": "AB01"]), .refused(.unknownDevice))
        #expect(try Mount.body(unknown)["rc"] == -1)
    }

    @Test(.covers("rationalowl", "/ro/v1/device/unregister")) func aDeviceLeavesAlsoTwice() throws {
        try expect(
            "device/unregister",
            [:],
            .registration(.unregister(.key("D"))),
            [.registration(.unregistered(1)), .refused(.unknownDevice)],
            ["rc": 1]
        )
    }

    @Test(.covers("rationalowl", "/ro/v1/device/state")) func theListIsForWhoIsActive() throws {
        try expect(
            "device/state",
            ["state": "background"],
            .inbox(.appState(key: "D", isActive: false)),
            [.inbox(.undelivered([]))],
            ["rc": 1]
        )
        try expect(
            "device/state",
            ["state": "active"],
            .inbox(.appState(key: "D", isActive: true)),
            [.inbox(.undelivered([]))],
            ["rc": 1, "undelivered": []]
        )
    }

    @Test(.covers("rationalowl", "/ro/v1/noti/delivered", "/ro/v1/noti/opened")) func receiptsAreTakenAlsoTwice() throws
    {
        let reporter = Reporter(key: "D")
        try expect(
            "noti/delivered",
            ["mId": "M", "t": 1_731_999_999_123],
            .receipt(
                .report(.received, message: "M", reporter: reporter, at: Timestamp(milliseconds: 1_731_999_999_123))
            ),
            [.receipt(.recorded), .receipt(.repeated)],
            ["rc": 1]
        )
        try expect(
            "noti/opened",
            ["mId": "M"],
            .receipt(.report(.read, message: "M", reporter: reporter, at: nil)),
            [.receipt(.recorded), .receipt(.repeated)],
            ["rc": 1]
        )
    }
}
