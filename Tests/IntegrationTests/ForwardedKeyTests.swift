import CommandSupport
import Model
import Testing

/// Calls to a UPMC server with `security.using=true` (docs/vendors/upmc.md#as-an-upstream).
@Suite(.timeLimit(.minutes(10))) struct ForwardedKeyTests {
    @Test func aProxiedCallWithAKeyOfTheGatewayGetsOneOfTheVendor() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.applyUPMC()
            let gateway = UPMCCaller(base: world.http.base).of("secured")
            let settings = ["upmc", "--set", "app=\(gateway.application)", "--set", "securityUsing=true"]
            let vendor = try await VendorStub.start(settings, world)
            try await closing(vendor.stop) {
                var direct = gateway
                direct.base = vendor.url
                let phone = UPMCCaller.Phone(user: "kim")
                // Both sides know the device and have issued it a key.
                func register(_ side: UPMCCaller) async throws -> String {
                    let asked = try await side.call("asking_authorization", phone.fields)
                    let key = try #require(asked.first?["AUTHKEY"]?.string)
                    return try #require(try await side.register(phone, ["AUTHKEY": key]).first?["AUTHKEY"]?.string)
                }
                _ = try await register(direct)
                let own = try await register(gateway)
                let number = try await direct.send(to: ["kim"], ["SERVICECODE": "ALL"])
                try await world.place(
                    ["kind": "upstream-upmc", "url": .string(vendor.url)],
                    ["calls": [["kinds": ["receipt"], "action": "proxy", "upstream": "old"]]],
                    app: gateway.app("secured")
                )
                func report(_ key: String) async throws -> String? {
                    let fields = phone.fields.merging(["SEQNO": number, "AUTHKEY": key]) { $1 }
                    return try await gateway.call("rcv_register_sent_ack", fields).code
                }
                #expect(try await report(own) == "0000")
                #expect(try await vendor.calls(to: "/upmc/rcv_register_sent_ack").count == 2)
                // The vendor's answer to a key of nobody is the caller's.
                #expect(try await report("nobody's") == "40100")
                #expect(try await vendor.calls(to: "/upmc/rcv_register_sent_ack").count == 3)
            }
        }
    }

    @Test func aForwardedCallGetsAKeyOfTheVendor() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.applyUPMC()
            let gateway = UPMCCaller(base: world.http.base)
            let settings = ["upmc", "--set", "app=\(gateway.application)", "--set", "securityUsing=true"]
            let vendor = try await VendorStub.start(settings, world)
            try await closing(vendor.stop) {
                try await world.place(
                    ["kind": "upstream-upmc", "url": .string(vendor.url)],
                    ["calls": [["kinds": ["device"], "action": "serveAndForward", "upstream": "old"]]],
                    app: gateway.app()
                )
                let phone = UPMCCaller.Phone(user: "kim")
                let answer = try await gateway.register(phone)
                try await eventually("the call is made with a key") {
                    try await vendor.calls(to: "/upmc/new_rcv_register_service_and_user").count == 2
                }
                let calls = try await vendor.calls(to: "/upmc/")
                let names = calls.compactMap { $0["target"]?.string }
                let register = "/upmc/new_rcv_register_service_and_user.ctl"
                #expect(names == [register, "/upmc/asking_authorization.ctl", register])
                // The key of the gateway does not leave.
                let own = try #require(answer.first?["AUTHKEY"]?.string)
                #expect(!calls.contains { VendorStub.text(of: $0).contains(own) })
                let (first, last) = (try #require(calls.first), try #require(calls.last))
                #expect(!VendorStub.text(of: first).contains("AUTHKEY="))
                #expect(VendorStub.text(of: last).contains("&AUTHKEY="))
                try await eventually("the call is over") {
                    try await world.value("SELECT count(*)::text AS value FROM gateway.outbox") == "0"
                }
                // The vendor knows the device, so that it accepts a send to its user.
                let sent = try await UPMCCaller(base: vendor.url).send(to: ["kim"], ["SERVICECODE": "ALL"])
                #expect(!sent.isEmpty)
            }
        }
    }
}
