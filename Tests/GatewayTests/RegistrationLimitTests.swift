import Foundation
import Logging
import Model
import Testing

@testable import Gateway
@testable import GatewayHTTP

/// The limit of an address on registrations, for the commands of each vendor's registration.
struct RegistrationLimitTests {
    /// The commands of one step of a call, and the replies to them.
    struct Step: Sendable {
        var commands: [Command]
        var replies: [Reply]
    }

    /// How a vendor's call registers a device.
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var vendor: Vendor
        /// The steps of a registration under a key, with a token; `isActive`: whether the key is registered already.
        var steps: @Sendable (_ key: VendorDeviceKey, _ token: DeviceToken, _ isActive: Bool) -> [Step]
    }

    private static let token = DeviceToken(stored: "0a")

    private static func registered(_ key: VendorDeviceKey, _ isActive: Bool, replaces: Bool) -> Registered {
        Registered(
            identity: IdentityID(rawValue: UUID()),
            device: DeviceID(rawValue: UUID()),
            key: key,
            platform: .ios,
            wasActive: isActive,
            replaced: !isActive && replaces ? [IdentityID(rawValue: UUID())] : []
        )
    }

    /// The first step of a dialect that reads before it writes.
    private static func reading(_ key: VendorDeviceKey, _ token: DeviceToken, _ isActive: Bool) -> Step {
        let standing = IdentityStanding(state: isActive ? .active : .replaced, token: token, user: nil)
        return Step(
            commands: [.registration(.standing(key: key))],
            replies: [.registration(.standing(standing))]
        )
    }

    static let shapes = [
        Shape(testDescription: "iPNS appRegist", vendor: .ipns, steps: ipns),
        Shape(testDescription: "UPMC service and user", vendor: .upmc, steps: upmc),
        Shape(testDescription: "RationalOwl installApp", vendor: .rationalOwl, steps: rationalOwl),
        Shape(testDescription: "RationalOwl installApp with a phone", vendor: .rationalOwl, steps: rationalOwlPhone),
        Shape(testDescription: "Notification Hubs registration", vendor: .notificationHubs, steps: notificationHubs),
        Shape(testDescription: "Braze data", vendor: .braze, steps: braze),
    ]

    @Sendable private static func ipns(_ key: VendorDeviceKey, _ token: DeviceToken, _ isActive: Bool) -> [Step] {
        var registration = DeviceRegistration(key: key, platform: .ios, token: token, user: UserID(key.rawValue))
        registration.derivesKey = true
        registration.keepsOwner = true
        let read = Command.preference(.preferences(DeviceCaller(key: key, token: token)))
        let reply = Reply.registration(.registered(registered(key, isActive, replaces: true)))
        let preferences = Reply.preference(.preferences(DevicePreferences(acceptsPush: true)))
        return [Step(commands: [.registration(.register(registration)), read], replies: [reply, preferences])]
    }

    @Sendable private static func upmc(_ key: VendorDeviceKey, _ token: DeviceToken, _ isActive: Bool) -> [Step] {
        let user = UserID(key.rawValue)
        let registration = DeviceRegistration(key: key, platform: .ios, token: token)
        let reply = RegistrationReply.enlisted(registered(key, isActive, replaces: true), AssignedUser(user: user))
        return [Step(commands: [.registration(.enlist(registration, .set(user)))], replies: [.registration(reply)])]
    }

    @Sendable private static func rationalOwl(_ key: VendorDeviceKey, _ token: DeviceToken, _ isActive: Bool) -> [Step]
    {
        let registration = DeviceRegistration(key: key, platform: .ios, token: token)
        let reply = Reply.registration(.registered(registered(key, isActive, replaces: true)))
        return [Step(commands: [.registration(.register(registration))], replies: [reply])]
    }

    @Sendable private static func rationalOwlPhone(
        _ key: VendorDeviceKey,
        _ token: DeviceToken,
        _ isActive: Bool
    ) -> [Step] {
        let registration = DeviceRegistration(key: key, platform: .ios, phone: "010", replacesSamePhone: true)
        let reply = Reply.registration(.registered(registered(key, isActive, replaces: true)))
        return [Step(commands: [.registration(.register(registration))], replies: [reply])]
    }

    /// The registrations of one device do not replace each other.
    @Sendable private static func notificationHubs(
        _ key: VendorDeviceKey,
        _ token: DeviceToken,
        _ isActive: Bool
    ) -> [Step] {
        var registration = DeviceRegistration(key: key, platform: .ios, token: token)
        registration.attributes[DeviceRegistration.sharingAttribute] = true
        let reply = Reply.registration(.registered(registered(key, isActive, replaces: false)))
        let standing = IdentityStanding(state: .active, token: token, user: nil)
        return [
            reading(key, token, isActive),
            Step(
                commands: [.registration(.register(registration)), .registration(.standing(key: key))],
                replies: [reply, .registration(.standing(standing))]
            ),
        ]
    }

    @Sendable private static func braze(_ key: VendorDeviceKey, _ token: DeviceToken, _ isActive: Bool) -> [Step] {
        let registration = DeviceRegistration(key: key, platform: .ios, token: token)
        let patch = UserPatch(user: .id(UserID(key.rawValue)), devices: [registration])
        return [
            reading(key, token, isActive),
            Step(
                commands: [.user(.track(UserBatch(patches: [patch])))],
                replies: [.user(.tracked(patches: [nil], acts: []))]
            ),
        ]
    }

    /// A node that allows an address `burst` new identities, and calls from one address.
    private struct Bench {
        let limits: VendorLimits
        let caller: VendorLimits.Caller

        init(_ vendor: Vendor, burst: Int) {
            var settings = CallLimitSettings()
            settings.rates = [.identities: CallRate(perSecond: 0.001, burst: Double(burst))]
            limits = VendorLimits(limiter: CallLimiter(settings, logger: Logger(label: "t"), now: { 0 }))
            caller = VendorLimits.Caller(
                address: "198.51.100.1",
                tenant: "acme",
                scope: AppScope(app: "shop", vendor: vendor)
            )
        }

        /// Makes a call without a look-up, as `VendorEndpoint` does. Returns whether it is performed.
        func make(_ steps: [Step]) -> Bool {
            var earlier = CallNames([], isOfDevice: true)
            for step in steps {
                let names = CallNames(step.commands, isOfDevice: true)
                guard case .admitted(let reserved) = limits.admission(names, caller, after: earlier) else {
                    return false
                }
                limits.settle(names, step.replies, reserved: reserved, caller)
                earlier.add(step.commands)
            }
            return true
        }
    }

    private static func key(_ number: Int) -> VendorDeviceKey { VendorDeviceKey("key-\(number)") }

    // The attack: a token of the caller's own, and a new key in each call.
    @Test(arguments: shapes) func newKeysWithOneTokenAreCounted(_ shape: Shape) {
        let bench = Bench(shape.vendor, burst: 3)
        let made = (0..<10).map { bench.make(shape.steps(Self.key($0), Self.token, false)) }
        #expect(made == Array(repeating: true, count: 3) + Array(repeating: false, count: 7))
    }

    // The look-up for a limited address asks for the key only.
    @Test(arguments: shapes) func onlyItsKeyExemptsARegistration(_ shape: Shape) throws {
        let bench = Bench(shape.vendor, burst: 1)
        #expect(bench.make(shape.steps(Self.key(0), Self.token, false)))
        let last = try #require(shape.steps(Self.key(1), Self.token, false).last)
        let names = CallNames(last.commands, isOfDevice: true)
        #expect(names.exempting == [.key(Self.key(1))])
        #expect(!names.isExempt({ $0 == .token(Self.token) }))
        #expect(names.isExempt({ $0 == .key(Self.key(1)) }))
        guard case .ifKnown(let excess) = bench.limits.admission(names, bench.caller) else {
            Issue.record("a device that may be registered is looked up")
            return
        }
        #expect(excess.limit == .identities)
    }

    @Test(arguments: shapes) func aKnownDeviceMayChangeItsTokenAndRepeatItsCall(_ shape: Shape) {
        let bench = Bench(shape.vendor, burst: 2)
        #expect(bench.make(shape.steps(Self.key(0), Self.token, false)))
        for number in 0..<10 {
            #expect(bench.make(shape.steps(Self.key(0), Self.token, true)), "a repeated call")
            let other = DeviceToken(stored: "0b\(number)")
            #expect(bench.make(shape.steps(Self.key(0), other, true)), "another token")
        }
        #expect(bench.make(shape.steps(Self.key(1), Self.token, false)), "they used up nothing")
        #expect(!bench.make(shape.steps(Self.key(2), Self.token, false)))
        #expect(bench.make(shape.steps(Self.key(0), DeviceToken(stored: "0c"), true)), "the address is limited")
    }

    // Registered devices that this node does not remember, one after the other.
    @Test(arguments: shapes) func registeredDevicesBehindOneAddressUseUpNothing(_ shape: Shape) {
        let bench = Bench(shape.vendor, burst: 1)
        for number in 0..<1000 {
            let own = DeviceToken(stored: "0d\(number)")
            #expect(bench.make(shape.steps(Self.key(number), own, true)))
        }
        #expect(bench.make(shape.steps(Self.key(-1), Self.token, false)))
    }

    // Two keys that end each other's registration are known from memory, but each registration is a new one.
    @Test(arguments: shapes) func keysThatReplaceEachOtherAreCounted(_ shape: Shape) {
        let bench = Bench(shape.vendor, burst: 10)
        let made = (0..<100).count { bench.make(shape.steps(Self.key($0 % 2), Self.token, false)) }
        #expect((10...20).contains(made), "\(made)")
    }

    // `POST /registrations` of Notification Hubs draws a key: it has no name that could be known.
    @Test func aDrawnKeyIsCounted() {
        let bench = Bench(.notificationHubs, burst: 2)
        let made = (0..<5).map { number -> Bool in
            let key = Self.key(number)
            var registration = DeviceRegistration(key: key, platform: .ios, token: Self.token)
            registration.attributes[DeviceRegistration.sharingAttribute] = true
            return bench.make([
                Step(commands: [.registration(.drawKey)], replies: [.registration(.drawn(key))]),
                Step(
                    commands: [.registration(.register(registration))],
                    replies: [.registration(.registered(Self.registered(key, false, replaces: false)))]
                ),
            ])
        }
        #expect(made == [true, true, false, false, false])
    }

    // Dialects without a key know a device by its token (`device/register` of RationalOwl, iPNS without `DEVICE_ID`).
    @Test func aKeyThatIsDerivedFromATokenIsKnownByIt() {
        let bench = Bench(.rationalOwl, burst: 1)
        func steps(_ token: DeviceToken?, isActive: Bool) -> [Step] {
            var registration = DeviceRegistration(key: nil, platform: .ios, token: token)
            registration.derivesKey = true
            let reply = Self.registered("derived", isActive, replaces: true)
            return [
                Step(commands: [.registration(.register(registration))], replies: [.registration(.registered(reply))])
            ]
        }
        #expect(bench.make(steps(Self.token, isActive: false)))
        #expect(bench.make(steps(Self.token, isActive: true)), "a repeated call")
        #expect(!bench.make(steps(DeviceToken(stored: "0b"), isActive: false)))
        #expect(!bench.make(steps(nil, isActive: false)))
        let nameless = CallNames([.registration(.register(DeviceRegistration(key: nil, platform: .ios)))])
        #expect(nameless.exempting.isEmpty && !nameless.isExempt({ _ in true }))
    }
}
