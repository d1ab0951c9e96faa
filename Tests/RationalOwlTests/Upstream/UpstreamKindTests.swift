import Model
import RationalOwl
import Testing

/// The kind of every documented call, and the targets that sends name. Both are written by hand from the contract.
struct UpstreamKindTests {
    /// All calls of the catalogue.
    static let kinds: [String: CallKind] = [
        "/pushApp/installApp": .device, "/pushApp/unregUser": .device,
        "/ro/v1/device/register": .device, "/ro/v1/device/token": .device, "/ro/v1/device/unregister": .device,
        "/ro/v1/device/state": .device, "/sync/deleteDevices/": .device,
        "/pushApp/reqAuthNumber": .user, "/pushApp/verifyAuthNumber": .user,
        "/msgClient/register": .user, "/msgClient/setCallbackUrl": .user,
        "/server/register/": .user, "/server/unregister/": .user,
        "/deviceGroup/create/": .user, "/deviceGroup/add/": .user, "/deviceGroup/subtract/": .user,
        "/deviceGroup/remove/": .user,
        "/pushApp/notiRead": .receipt, "/ro/v1/noti/delivered": .receipt, "/ro/v1/noti/opened": .receipt,
        "/pushApp/msgInfo": .read, "/pushApp/imgData": .read,
        "/tracking/msgStats/": .read, "/tracking/msgDevices/": .read, "/tracking/msgDeviceDetail/": .read,
        "/tracking/msgDetail/": .read, "/tracking/batchMsgDevices/": .read, "/tracking/batchMsgDeviceDetail/": .read,
        "/sync/deviceIds/": .read, "/sync/groupDeviceIds/": .read,
        "/msgClient/msgClientSendMsgByPhoneNum": .send, "/msgClient/msgClientSendMsgByDeviceId": .send,
        "/downstream/multicast/": .send, "/downstream/broadcast/": .send, "/downstream/group/": .send,
        "/custompush/multicast/": .send, "/custompush/broadcast/": .send, "/custompush/group/": .send,
        "/custompush/retry/": .send,
    ]

    private static func kind(_ path: String, _ body: String = "{}") -> CallKind {
        Mount.adapter.kind(of: Mount.request(path, body: Array(body.utf8)), settings: .unbound)
    }

    @Test func everyCallOfTheCatalogueHasItsKind() throws {
        let calls = try #require(try Fixture.json("catalogue.json")["calls"]?.array).compactMap(\.string)
        // The gateway makes the tracking callback and never receives it.
        #expect(Set(calls) == Set(Self.kinds.keys).union(["tracking callback"]))
        for (path, kind) in Self.kinds { #expect(Self.kind(path) == kind, "\(path)") }
    }

    @Test func everyRouteOfACallHasTheKindOfTheCall() throws {
        var kinds: [String: CallKind] = [:]
        for (path, kind) in Self.kinds {
            if let name = Mount.route(for: path)?.name, RationalOwlCall(rawValue: name) != nil { kinds[name] = kind }
        }
        #expect(Set(kinds.keys) == Set(RationalOwlCall.allCases.map(\.rawValue)))
        for route in Mount.adapter.routes {
            guard case .exact(let path) = route.path else { continue }
            #expect(Self.kind(path) == kinds[route.name], "\(path)")
        }
    }

    @Test(arguments: DocumentedRequestTests.commands.keys.sorted())
    func everyDocumentedRequestHasTheKindOfItsCall(_ fixture: String) throws {
        let request = try Mount.documented(fixture)
        #expect(Mount.adapter.kind(of: request, settings: .unbound) == Self.kinds[request.path])
        #expect(Mount.adapter.appVersion(in: request) == nil)
    }

    @Test func aRequestThatCannotBeReadHasTheKindOfItsPath() {
        #expect(Self.kind("/pushApp/notiRead", "{") == .receipt)
        #expect(Self.kind("/msgClient/sendMsg", "no JSON") == .send)
        #expect(Self.kind("/custompush/multicast", "no JSON") == .send)
        for path in ["/pushApp/nothing", "/custompush/nothing", "/custompush", "/index.html", "/", ""] {
            #expect(Self.kind(path) == .other, "\(path)")
        }
    }

    // MARK: Named targets

    private static func named(_ path: String, _ body: String) -> NamedTargets {
        Mount.adapter.named(in: Mount.request(path, body: Array(body.utf8)), settings: .unbound)
    }

    @Test func devicesAreNamedByTheKeyOfTheirRegistration() throws {
        let send = try Mount.documented("sendByDeviceID/devices.request.json")
        let named = Mount.adapter.named(in: send, settings: .unbound)
        #expect(
            named
                == .targets([
                    RolloutFacts(device: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"),
                    RolloutFacts(device: "d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"),
                ])
        )
        let install = try Mount.documented("installApp/vendor-document.request.json")
        guard case .registration(.register(let device))? = try Mount.adapter.decode(install, settings: .unbound).first
        else {
            Issue.record("no registration")
            return
        }
        #expect(device.key?.rawValue == "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf")
    }

    @Test func aPhoneRevealsNeitherUserNorDevice() throws {
        let simple = try Mount.documented("sendByPhoneNumber/simple.request.json")
        #expect(Mount.adapter.named(in: simple, settings: .unbound) == .hidden)
        let everyone = try Mount.documented("sendByPhoneNumber/everyone.request.json")
        #expect(Mount.adapter.named(in: everyone, settings: .unbound) == .audience)
    }

    @Test func otherCallsNameNobody() throws {
        for fixture in DocumentedRequestTests.commands.keys where !fixture.hasPrefix("send") {
            let request = try Mount.documented(fixture)
            #expect(Mount.adapter.named(in: request, settings: .unbound) == .audience, "\(fixture)")
        }
        #expect(Self.named("/msgClient/msgClientSendMsgByDeviceId", "{") == .audience)
        #expect(Self.named("/msgClient/msgClientSendMsgByDeviceId", #"{"dest":{"t":2,"tg":[{}]}}"#) == .audience)
        // The gateway cannot serve it, so that a rollout leaves it to the vendor.
        #expect(Self.named("/custompush/multicast/", #"{"deviceRegIds":["d0"]}"#) == .audience)
    }

    // A message that the gateway would refuse still names its targets.
    @Test func theTargetsDoNotDependOnTheMessage() {
        let body = #"{"aId":"A","dest":{"t":2,"tg":[{"dId":"d0"},{"dId":"d0"}]}}"#
        #expect(
            Self.named("/msgClient/sendMsgByDeviceId", body) == .targets([RolloutFacts(device: "d0")])
        )
    }
}
