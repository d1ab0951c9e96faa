import CommandSupport
import Foundation
import Model
import NIOHTTP1
import TestKit
import Testing

@testable import GatewayHTTP

/// Limits of addresses over real sockets: each caller of these tests connects from its own address of 127.0.0.0/8.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct AddressLimitTests {
    private static func token(_ number: Int) -> String { String(format: "%064x", number) }

    /// Starts a gateway with the app `bank`, which every vendor serves.
    private static func on(_ arguments: [String], _ body: (World) async throws -> Void) async throws {
        try await World.with(serveArguments: arguments) { world in
            _ = try await world.apply()
            try await world.applyLimited()
            try await body(world)
        }
    }

    private static func register(_ number: Int) -> LoopbackClient.Call {
        .json("/ro/v1/device/register", ["sId": "bank-service", "dt": 2, "tk": .string(token(number)), "env": "dev"])
    }

    // MARK: Ten thousand registrations

    // The attack of the audit: 10,000 registrations from one address, as fast as it can. Another address registers its devices meanwhile.
    @Test func tenThousandRegistrationsFromOneAddressLeaveAnotherAlone() async throws {
        try await Self.on(["--limits-calls"]) { world in
            let base = world.http.base
            let start = ContinuousClock.now
            let isOver = Tally()
            async let flood = Self.flood(base, connections: 20, rounds: 10, calls: 50)
            async let neighbour = Self.registerSlowly(base, until: isOver)
            let answers = try await flood
            let elapsed = Double((ContinuousClock.now - start).milliseconds) / 1000
            isOver.add(1)
            let others = try await neighbour

            let registered = answers.count { $0.json?["rc"] == 1 }
            let limited = answers.filter { $0.status == 429 }
            #expect(answers.count == 10_000 && registered + limited.count == 10_000)
            #expect(Double(registered) <= 600 + 10 * (elapsed + 1), "the burst, and ten per second for \(elapsed) s")
            #expect(limited.allSatisfy { $0.json?["rc"] != nil && $0.json?["dRId"] == nil }, "in the vendor's format")
            #expect(others.count > 5 && others.allSatisfy { $0.json?["rc"] == 1 }, "\(others.map(\.text))")
            let count = try await world.metric("calls_limited_total", "limit=\"identities\"")
            #expect(count == Double(limited.count))
            print("10,000 registrations in \(elapsed) s: \(registered) registered, \(others.count) of the neighbour")
        }
    }

    private static func flood(
        _ base: String,
        connections: Int,
        rounds: Int,
        calls: Int
    ) async throws -> [LoopbackClient.Answer] {
        try await withThrowingTaskGroup(of: [LoopbackClient.Answer].self) { group in
            for connection in 0..<connections {
                group.addTask {
                    try await LoopbackClient.from("127.0.0.1", to: base) { client in
                        var answers: [LoopbackClient.Answer] = []
                        for round in 0..<rounds {
                            let first = (connection * rounds + round) * calls
                            answers += try await client.make((first..<first + calls).map(register))
                        }
                        return answers
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Registers devices one after the other, at most 300, until the flood is over.
    private static func registerSlowly(_ base: String, until isOver: Tally) async throws -> [LoopbackClient.Answer] {
        try await LoopbackClient.from("127.0.0.2", to: base) { client in
            var answers: [LoopbackClient.Answer] = []
            while isOver.value == 0 || answers.count < 10, answers.count < 300 {
                answers.append(try await client.call(register(1_000_000 + answers.count)))
                try await Task.sleep(for: .milliseconds(20))
            }
            return answers
        }
    }

    // MARK: "Try again" of every dialect

    /// The registration of a new device with each vendor, by number.
    private static func registrations(_ world: World) -> [(Vendor, @Sendable (Int) -> LoopbackClient.Call)] {
        let hub = NotificationHubsTests().token(world, "Listen", key: LimitedKeys.listen, hub: "hub")
        return [
            (.rationalOwl, register),
            (
                .upmc,
                { number in
                    let fields =
                        "APP_ID=com.bank&PNSID=APNS&DEVICE_ID=u\(number)&DEVICE_TYPE=I&PSID=\(token(number))&CUID=u\(number)"
                    return .init(
                        path: "/upmc/new_rcv_register_service_and_user.ctl",
                        headers: ["Content-Type": "application/x-www-form-urlencoded"],
                        body: fields + "&CNAME=U&APNS_MODE=REAL"
                    )
                }
            ),
            (
                .ipns,
                { number in
                    .json(
                        "/ipns/appRegist",
                        [
                            "APP_ID": "bank", "USER_CN": .string("u\(number)"), "DEVICE_ID": .string("i\(number)"),
                            "PUSH_TOKEN": .string(token(number)),
                        ]
                    )
                }
            ),
            (
                .notificationHubs,
                { number in
                    let body: JSON = [
                        "installationId": .string("h-\(number)"), "platform": "apns",
                        "pushChannel": .string(token(number)),
                    ]
                    var call = LoopbackClient.Call.json(
                        "/hub/installations/h-\(number)?api-version=2020-06",
                        body,
                        ["Authorization": hub]
                    )
                    call.method = .PUT
                    return call
                }
            ),
            (
                .braze,
                { number in
                    .json(
                        "/api/v3/data",
                        [
                            "api_key": "bank-sdk", "device_id": .string("b-\(number)"),
                            "attributes": [["push_token": .string(token(number))]],
                        ],
                        ["X-Braze-Api-Key": "bank-sdk"]
                    )
                }
            ),
        ]
    }

    private static func isAccepted(_ answer: LoopbackClient.Answer, _ vendor: Vendor) -> Bool {
        switch vendor {
        case .rationalOwl: answer.json?["rc"] == 1
        case .upmc: answer.json?["HEADER"]?["RESULT_CODE"] == "0000"
        case .ipns: answer.json?["RT"] == "0000"
        case .notificationHubs: answer.status == 200
        default: answer.status == 201
        }
    }

    /// Whether the answer is the vendor's own "try again" (docs/security.md#limits).
    private static func isTryAgain(_ answer: LoopbackClient.Answer, _ vendor: Vendor) -> Bool {
        switch vendor {
        case .rationalOwl: answer.status == 429 && answer.json?["rc"] != nil
        case .upmc: answer.status == 200 && answer.text.contains("too many requests")
        case .ipns: answer.status == 200 && answer.json?["RT"] == "9999"
        default: answer.status == 429 && answer.headers.first(name: "Retry-After") != nil
        }
    }

    @Test func everyDialectSaysTryAgainInItsOwnWay() async throws {
        try await Self.on(["--limits-identities", "0.001/1"]) { world in
            let vendors = Self.registrations(world)
            #expect(Set(vendors.map(\.0)) == [.rationalOwl, .upmc, .ipns, .notificationHubs, .braze])
            for (index, (vendor, registration)) in vendors.enumerated() {
                for address in ["127.0.1.\(index + 1)", "127.0.2.\(index + 1)"] {
                    try await LoopbackClient.from(address, to: world.http.base) { client in
                        let number = 0xC0_0000 + index * 16 + (address.hasPrefix("127.0.1") ? 0 : 4)
                        let first = try await client.call(registration(number))
                        #expect(Self.isAccepted(first, vendor), "\(vendor): \(first.status) \(first.text)")
                        let second = try await client.call(registration(number + 1))
                        #expect(Self.isTryAgain(second, vendor), "\(vendor): \(second.status) \(second.text)")
                        // The device that is known is not a stranger.
                        let again = try await client.call(registration(number))
                        #expect(!Self.isTryAgain(again, vendor), "\(vendor): \(again.status) \(again.text)")
                    }
                }
            }
            #expect(try await world.metric("calls_limited_total", "limit=\"identities\"") == 10)
        }
    }

    // MARK: One token and new keys

    /// Registrations of devices that all state one token, with each vendor, by number.
    private static func oneToken(_ world: World) -> [(Vendor, @Sendable (Int) -> LoopbackClient.Call)] {
        let hub = NotificationHubsTests().token(world, "Listen", key: LimitedKeys.listen, hub: "hub")
        let tokens = (0..<5).map { token(0xE0_0000 + $0) }
        return [
            (
                .ipns,
                { number in
                    .json(
                        "/ipns/appRegist",
                        [
                            "APP_ID": "bank", "USER_CN": .string("t\(number)"), "DEVICE_ID": .string("t\(number)"),
                            "PUSH_TOKEN": .string(tokens[0]),
                        ]
                    )
                }
            ),
            (
                .upmc,
                { number in
                    let fields = "APP_ID=com.bank&PNSID=APNS&DEVICE_TYPE=I&CNAME=U&APNS_MODE=REAL&PSID=\(tokens[1])"
                    return .init(
                        path: "/upmc/new_rcv_register_service_and_user.ctl",
                        headers: ["Content-Type": "application/x-www-form-urlencoded"],
                        body: fields + "&DEVICE_ID=t\(number)&CUID=t\(number)"
                    )
                }
            ),
            (
                .rationalOwl,
                { number in
                    .json(
                        "/pushApp/installApp",
                        [
                            "cId": 303, "aId": "bank-account", "dt": 2,
                            "dRId": .string(String(format: "%032x", 0xE0_0000 + number)),
                            "tk": .string(tokens[2]), "env": "prod",
                        ]
                    )
                }
            ),
            (
                .notificationHubs,
                { _ in
                    let kind = "AppleRegistrationDescription"
                    let description = "<\(kind)><DeviceToken>\(tokens[3])</DeviceToken></\(kind)>"
                    return .init(
                        path: "/hub/registrations?api-version=2020-06",
                        headers: ["Content-Type": "application/atom+xml", "Authorization": hub],
                        body: "<entry><content>\(description)</content></entry>"
                    )
                }
            ),
            (
                .braze,
                { number in
                    .json(
                        "/api/v3/data",
                        [
                            "api_key": "bank-sdk", "device_id": .string("t-\(number)"),
                            "attributes": [["push_token": .string(tokens[4])]],
                        ],
                        ["X-Braze-Api-Key": "bank-sdk"]
                    )
                }
            ),
        ]
    }

    // A caller's own token, with a new key in each call, would otherwise use up the app's registrations of the day.
    @Test func newKeysWithOneTokenAreLimited() async throws {
        try await Self.on(["--limits-identities", "0.001/3"]) { world in
            let vendors = Self.oneToken(world)
            for (index, (vendor, registration)) in vendors.enumerated() {
                try await LoopbackClient.from("127.0.4.\(index + 1)", to: world.http.base) { client in
                    var answers: [LoopbackClient.Answer] = []
                    for number in 0..<30 { answers.append(try await client.call(registration(number))) }
                    let texts = answers.prefix(4).map { "\($0.status) \($0.text)" }
                    #expect(answers.prefix(3).allSatisfy { Self.isAccepted($0, vendor) }, "\(vendor): \(texts)")
                    #expect(answers.dropFirst(3).allSatisfy { Self.isTryAgain($0, vendor) }, "\(vendor): \(texts)")
                    guard vendor != .notificationHubs else { return }  // each of its calls has a new key
                    let again = try await client.call(registration(2))
                    #expect(!Self.isTryAgain(again, vendor), "\(vendor): \(again.status) \(again.text)")
                }
            }
            let stored = try await world.value(
                "SELECT count(*)::text AS value FROM gateway.identity WHERE app_id = 'bank'"
            )
            #expect(stored == "\(3 * vendors.count)")
        }
    }
}

/// The keys of `World.applyLimited`.
enum LimitedKeys {
    static let listen = "the listening key of the hub of the limits"
    static let limited = "limited-5b1e7d3c9a5f40628e4c6a0d2f7b9c31"
}

extension World {
    /// Adds the app `bank`, with a binding of every vendor, and an app for each quota of an app, which allows one.
    func applyLimited() async throws {
        try writeKeys([
            ("rest", "33333333-aaaa-4bbb-8ccc-dddddddddddd"), ("listen", LimitedKeys.listen),
            ("limited", LimitedKeys.limited), ("mina", "a password of mina's"),
        ])
        let quotas = Quota.ofApps.map { quota in
            """

                  - id: quota-\(quota.rawValue.lowercased())
                    quotas: { \(quota): 1 }
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      rationalowl: { accountId: \(quota)-account, serviceId: \(quota)-service }
                      upmc: { applicationId: com.\(quota) }
            """
        }
        let bank = """

                  - id: bank
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      rationalowl: { accountId: bank-account, serviceId: bank-service }
                      upmc: { applicationId: com.bank }
                      ipns: { appId: bank }
                      braze: { sdkKey: bank-sdk, restKeyFile: rest.key, settings: { sdkEnabled: true } }
                      notificationhubs:
                        hub: hub
                        keys: [ { name: Listen, valueFile: listen.key, rights: [listen] } ]
                        appBackend: { prefix: Site, users: [ { name: mina, passwordFile: mina.key } ] }
            """
        try await apply(
            "limited.yaml",
            keys:
                "      - { name: limited, secretFile: limited.key, scopes: [send, devices], recipientsPerDay: 1 }\n",
            apps: quotas.joined() + bank
        )
        // From addresses of their own, so that the wait uses up nothing.
        var number = 0
        try await eventually("the last binding is served", every: .milliseconds(100)) {
            number = number % 250 + 1
            return try await LoopbackClient.from("127.0.9.\(number)", to: http.base) { client in
                let call = LoopbackClient.Call.json("/ipns/getConfig", ["APP_ID": "bank", "DEVICE_ID": "D"])
                return try await client.call(call).json?["RT"] == "2003"
            }
        }
    }
}
