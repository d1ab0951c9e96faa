import FoundationEssentials
import Model
import Testing

/// How the targets of a message are divided among an upstream's calls.
struct TargetGroupTests {
    private static func target(_ key: String) -> TargetFacts {
        TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: "stub",
            key: VendorDeviceKey(key),
            destination: PushDestination(platform: .ios, environment: .production, token: nil, tokenState: .none)
        )
    }

    private static func groups(_ keys: String...) -> TargetGroups {
        TargetGroups(keys.map(target)) { $0.key == "nobody" ? nil : $0.key.rawValue }
    }

    @Test func targetsWithOneNameStayTogetherInTheOrderOfTheFirst() {
        let groups = Self.groups("a", "b", "nobody", "a", "", "c")
        #expect(groups.groups.map(\.name) == ["a", "b", "c"])
        #expect(groups.groups.map(\.targets) == [[0, 3], [1], [5]])
    }

    @Test func aCallEndsBeforeItsLimits() {
        let groups = Self.groups("a", "b", "a", "c", "d")
        func names(_ limit: Int, _ room: Int = .max) -> [[String]] {
            groups.calls(targets: limit, bytes: room) { _ in 10 }.map { $0.map(\.name) }
        }
        #expect(names(5) == [["a", "b", "c", "d"]])
        #expect(names(3) == [["a", "b"], ["c", "d"]])
        #expect(names(2) == [["a"], ["b", "c"], ["d"]])
        // A group is never divided, and every group is in a call.
        #expect(names(1) == [["a"], ["b"], ["c"], ["d"]])
        #expect(names(5, 20) == [["a", "b"], ["c", "d"]])
        #expect(names(5, -1) == [["a"], ["b"], ["c"], ["d"]])
        #expect(Self.groups("nobody").calls(targets: 5).isEmpty)
    }

    @Test func aCallNamesEachOfItsTargets() {
        let groups = Self.groups("a", "b", "a")
        let call = UpstreamCall(VendorRequest(route: "send", path: "/send"), to: groups.groups)
        #expect(call.targets == [0, 2, 1])
        #expect(call.names == ["a", "a", "b"])
    }
}
