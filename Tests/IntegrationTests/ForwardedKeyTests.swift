import Model
import Testing

/// Forwarded calls to a UPMC server with `security.using=true` (docs/routing.md#calls-that-are-forwarded).
@Suite(.timeLimit(.minutes(10))) struct ForwardedKeyTests {
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
                let sent = try await UPMCCaller(base: vendor.url).send(to: ["kim"])
                #expect(!sent.isEmpty)
            }
        }
    }
}
