import Foundation
import Logging
import Model
import NIOConcurrencyHelpers
import Testing

@testable import Gateway
@testable import GatewayHTTP

/// The limits of a node around a clock of the test.
struct CallLimiterTests {
    private final class Bench: Sendable {
        let now = NIOLockedValueBox(0.0)
        let lines = Lines()
        let limiter: CallLimiter

        init(_ edit: (inout CallLimitSettings) -> Void = { _ in }) {
            var settings = CallLimitSettings()
            edit(&settings)
            let lines = lines
            let logger = Logger(label: "limits") { _ in lines }
            limiter = CallLimiter(settings, logger: logger) { [now] in now.withLockedValue { $0 } }
        }
    }

    private struct Lines: LogHandler {
        let texts = NIOLockedValueBox<[String]>([])
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let more = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            texts.withLockedValue { $0.append("\(event.message) \(more.joined(separator: " "))") }
        }
    }

    // MARK: Addresses

    @Test func addressesOfOneCustomerAreOne() {
        func name(_ text: String?) -> LimitedName { .network(text) }
        #expect(name("2001:db8:1:2:3:4:5:6") == name("2001:db8:1:2::9"))
        #expect(name("2001:db8:1:2::1") != name("2001:db8:1:3::1"))
        #expect(name("198.51.100.1") != name("198.51.100.2"))
        #expect(name("::ffff:198.51.100.1") == name("198.51.100.1"))
        #expect(name(nil) == name(nil) && name(nil) != name("198.51.100.1"))
    }

    @Test func exemptNetworksAndTheSwitchLiftAllLimits() throws {
        let range = try #require(AddressRange("10.0.0.0/8"))
        let bench = Bench { $0.exempt = [range] }
        #expect(!bench.limiter.applies(to: "10.1.2.3") && !bench.limiter.applies(to: "::ffff:10.1.2.3"))
        #expect(bench.limiter.applies(to: "11.1.2.3") && bench.limiter.applies(to: nil))
        #expect(!CallLimiter(.off, logger: Logger(label: "x")).applies(to: "11.1.2.3"))
    }

    @Test func aLimitThatIsOffRefusesNothing() {
        let bench = Bench { $0.rates[.identity] = nil }
        for _ in 0..<10_000 { #expect(bench.limiter.take(.identity, LimitedName("x")) == nil) }
        #expect(bench.limiter.excess(.identity, LimitedName("x")) == nil)
    }

    // MARK: Proofs

    @Test func aWrongKeyMakesTheAddressWaitButNotOthersNorAKnownKey() {
        let bench = Bench { $0.addressFailures = 3 }
        let (wrong, right) = (CallProof("wrong"), CallProof("right"))
        bench.limiter.proved(right, from: "198.51.100.1", at: .native)
        for _ in 0..<3 {
            #expect(bench.limiter.excess(of: wrong, from: "198.51.100.1", at: .native) == nil)
            bench.limiter.failed(wrong, from: "198.51.100.1")
        }
        bench.limiter.failed(wrong, from: "198.51.100.1")
        let excess = bench.limiter.excess(of: CallProof("another"), from: "198.51.100.1", at: .native)
        #expect(excess?.limit == .addressProofs && excess?.waitSeconds == 1)
        #expect(bench.limiter.excess(of: wrong, from: "198.51.100.2", at: .native) == nil)
        #expect(bench.limiter.excess(of: right, from: "198.51.100.1", at: .native) == nil)
        bench.now.withLockedValue { $0 = 2 }
        #expect(bench.limiter.excess(of: wrong, from: "198.51.100.1", at: .native) == nil)
    }

    @Test func aNameOfAKeyWaitsSoonerAndAProofForgivesIt() {
        let bench = Bench { $0.nameFailures = 2 }
        let wrong = CallProof("mina:1", keyName: "mina")
        for _ in 0..<3 { bench.limiter.failed(wrong, from: "198.51.100.1") }
        #expect(bench.limiter.excess(of: wrong, from: "198.51.100.1", at: .native)?.limit == .nameProofs)
        let other = CallProof("hong:1", keyName: "hong")
        #expect(bench.limiter.excess(of: other, from: "198.51.100.1", at: .native) == nil)
        #expect(bench.limiter.excess(of: wrong, from: "198.51.100.2", at: .native) == nil)
        bench.limiter.proved(CallProof("mina:right", keyName: "mina"), from: "198.51.100.1", at: .native)
        #expect(bench.limiter.excess(of: wrong, from: "198.51.100.1", at: .native) == nil)
    }

    // A guess that is right, or not looked at, in one realm must not be free in another.
    @Test(arguments: [
        ProofRealm.native, ProofRealm(BindingKey(vendor: .upmc, kind: "application", value: "b"), .sender),
        ProofRealm(BindingKey(vendor: .upmc, kind: "bundle", value: "a"), .sender),
        ProofRealm(BindingKey(vendor: .upmc, kind: "application", value: "a", host: "h"), .sender),
        ProofRealm(BindingKey(vendor: .upmc, kind: "application", value: "a"), .credential),
    ])
    func aProofCountsOnlyInTheRealmThatVerifiedIt(_ other: ProofRealm) {
        let bench = Bench { $0.addressFailures = 1 }
        let proof = CallProof("guess")
        bench.limiter.proved(proof, from: "198.51.100.1", at: Self.realm)
        for _ in 0..<2 { bench.limiter.failed(CallProof("wrong"), from: "198.51.100.1") }
        #expect(bench.limiter.excess(of: proof, from: "198.51.100.1", at: Self.realm) == nil)
        #expect(bench.limiter.excess(of: proof, from: "198.51.100.1", at: other)?.limit == .addressProofs)
    }

    @Test(
        arguments: [
            (.key(APIKeyGrant(tenant: "acme", name: "a", scopes: ["send"])), true), (.ownKey, true), (.unasked, true),
            (.place, false), (.open, false), (.refused("unauthorized"), false),
        ] as [(SenderGate.Verdict, Bool)]
    )
    func onlyAVerifiedCredentialIsRemembered(_ verdict: SenderGate.Verdict, _ isRemembered: Bool) {
        let bench = Bench { $0.addressFailures = 1 }
        let limits = VendorLimits(limiter: bench.limiter)
        let proof = CallProof("shown")
        limits.admitted(ShownProof(proof: proof, address: "198.51.100.1", realm: Self.realm), by: verdict)
        for _ in 0..<2 { bench.limiter.failed(CallProof("wrong"), from: "198.51.100.1") }
        let excess = bench.limiter.excess(of: proof, from: "198.51.100.1", at: Self.realm)
        #expect((excess == nil) == isRemembered)
    }

    private static let realm = ProofRealm(BindingKey(vendor: .upmc, kind: "application", value: "a"), .sender)

    // MARK: Log

    @Test func oneLinePerLimitAndMinute() throws {
        let bench = Bench { $0.rates[.user] = CallRate(perSecond: 0.001, burst: 1) }
        #expect(bench.limiter.take(.user, LimitedName("u")) == nil)
        let excess = try #require(bench.limiter.take(.user, LimitedName("u")))
        for _ in 0..<100 { bench.limiter.refused(excess, from: "198.51.100.1") }
        #expect(
            bench.lines.texts.withLockedValue { $0 } == ["calls limited count=1 limit=limits.user peer=198.51.100.1"]
        )
        bench.now.withLockedValue { $0 = 61 }
        bench.limiter.refused(excess, from: "198.51.100.1")
        #expect(
            bench.lines.texts.withLockedValue { $0 }.last
                == "calls limited count=100 limit=limits.user peer=198.51.100.1"
        )
    }

    // MARK: Calls of vendors

    private static let caller = VendorLimits.Caller(
        address: "198.51.100.1",
        tenant: "acme",
        scope: AppScope(app: "shop", vendor: .rationalOwl)
    )

    private static func another(at address: String) -> VendorLimits.Caller {
        var another = caller
        another.address = address
        return another
    }

    private static func registered(_ key: VendorDeviceKey, wasActive: Bool, replaced: Int = 0) -> Reply {
        let id = UUID()
        return .registration(
            .registered(
                Registered(
                    identity: IdentityID(rawValue: id),
                    device: DeviceID(rawValue: id),
                    key: key,
                    platform: .ios,
                    wasActive: wasActive,
                    replaced: Array(repeating: IdentityID(rawValue: id), count: replaced)
                )
            )
        )
    }

    private static func register(_ key: VendorDeviceKey?) -> CallNames {
        CallNames([.registration(.register(DeviceRegistration(key: key, platform: .ios)))])
    }

    private func limits(_ rate: CallRate) -> VendorLimits {
        VendorLimits(
            limiter: Bench {
                $0.rates[.identities] = rate
                $0.rates[.unknown] = rate
            }.limiter
        )
    }

    // A registration that replaces another one is new as well: whoever has one token could otherwise register any number of keys.
    @Test func onlyNewIdentitiesCount() {
        let limits = limits(CallRate(perSecond: 0.001, burst: 3))
        for number in 0..<10 {
            let names = Self.register(VendorDeviceKey("known-\(number)"))
            #expect(limits.admission(names, Self.caller) == .admitted(reserved: true))
            let reply = Self.registered(VendorDeviceKey("known-\(number)"), wasActive: true, replaced: number % 2)
            limits.settle(names, [reply], reserved: true, Self.caller)
        }
        for number in 0..<3 {
            let names = Self.register(nil)
            #expect(limits.admission(names, Self.caller) == .admitted(reserved: true))
            let reply = Self.registered(VendorDeviceKey("new-\(number)"), wasActive: false, replaced: number)
            limits.settle(names, [reply], reserved: true, Self.caller)
        }
        guard case .refused(let excess) = limits.admission(Self.register(nil), Self.caller) else {
            Issue.record("the address has used up its limit")
            return
        }
        #expect(excess.limit == .identities)
        #expect(limits.admission(Self.register("stranger"), Self.caller) == .ifKnown(excess))
        // Devices that this node knows need no look-up, whoever else called from their address.
        for key in ["known-3", "new-1"] as [VendorDeviceKey] {
            #expect(limits.admission(Self.register(key), Self.caller) == .admitted(reserved: false))
        }
        var other = Self.caller
        other.address = "198.51.100.2"
        #expect(limits.admission(Self.register(nil), other) == .admitted(reserved: true))
    }

    // A dialect that reads before it writes looks for its device first. The device is not known by that.
    @Test func aLookUpThatFindsNobodyMakesNobodyKnown() {
        let limits = limits(CallRate(perSecond: 0.001, burst: 1))
        let nobody = Reply.registration(.standing(nil))
        for number in 0..<3 {
            let key = VendorDeviceKey("new-\(number)")
            let first = CallNames([.registration(.standing(key: key))])
            #expect(limits.admission(first, Self.caller) == .admitted(reserved: false))
            limits.settle(first, [nobody], reserved: false, Self.caller)
            let sequel = limits.admission(Self.register(key), Self.caller, after: first)
            switch sequel {
            case .admitted(let reserved):
                #expect(number == 0 && reserved)
                limits.settle(
                    Self.register(key),
                    [Self.registered(key, wasActive: false)],
                    reserved: reserved,
                    Self.caller
                )
            case .ifKnown(let excess): #expect(number > 0 && excess.limit == .identities)
            case .refused: Issue.record("a device that may be known is looked up")
            }
        }
        #expect(
            limits.admission(Self.register("new-0"), Self.caller) == .admitted(reserved: false),
            "registered"
        )
    }

    // Names of later steps count once, and those of earlier ones are not counted again.
    @Test func aUserOfALaterStepIsCountedOnce() {
        let rate = CallRate(perSecond: 0.001, burst: 2)
        let limits = VendorLimits(limiter: Bench { $0.rates[.user] = rate }.limiter)
        let first = CallNames([.registration(.standing(key: "k"))])
        var registration = CallNames([])
        registration.add([.preference(.preferences(DeviceCaller(user: "u")))])
        for _ in 0..<2 {
            #expect(limits.admission(registration, Self.caller, after: first) == .admitted(reserved: false))
        }
        guard case .refused(let excess) = limits.admission(registration, Self.caller, after: first) else {
            Issue.record("the user is not limited")
            return
        }
        #expect(excess.limit == .user)
        #expect(limits.admission(registration, Self.caller, after: registration) == .admitted(reserved: false))
    }

    @Test func unknownNamesCount() {
        let limits = limits(CallRate(perSecond: 0.001, burst: 2))
        let receipt = CallNames([
            .receipt(.report(.read, message: "m", reporter: Reporter(key: "stranger"), at: nil))
        ])
        for _ in 0..<2 {
            #expect(limits.admission(receipt, Self.caller) == .admitted(reserved: false))
            limits.settle(receipt, [.receipt(.orphan)], reserved: false, Self.caller)
        }
        guard case .ifKnown(let excess) = limits.admission(receipt, Self.caller) else {
            Issue.record("the address has used up its limit")
            return
        }
        #expect(excess.limit == .unknown)
        let phone = CallNames([.registration(.unregister(.phone("01012345678")))])
        #expect(limits.admission(phone, Self.caller) == .refused(excess))
    }

    @Test func aKnownIdentityAUserAndAPhoneHaveTheirOwnLimits() {
        let rate = CallRate(perSecond: 0.001, burst: 1)
        let limits = VendorLimits(
            limiter: Bench { for limit in [.identity, .user, .phone] as [CallLimit] { $0.rates[limit] = rate } }.limiter
        )
        func admission(_ command: Command, _ app: AppID = "shop") -> CallLimit? {
            let caller = VendorLimits.Caller(
                address: nil,
                tenant: "acme",
                scope: AppScope(app: app, vendor: .ipns)
            )
            guard case .refused(let excess) = limits.admission(CallNames([command]), caller) else {
                return nil
            }
            return excess.limit
        }
        let device = Command.preference(.preferences(DeviceCaller(key: "k")))
        #expect(admission(device) == nil && admission(device) == .identity)
        #expect(admission(device, "other") == nil, "another app's identity")
        let user = Command.preference(.preferences(DeviceCaller(user: "u")))
        #expect(admission(user) == nil && admission(user) == .user)
        let phone = Command.registration(.requestVerification(phone: "010", countryCode: nil))
        #expect(admission(phone) == nil && admission(phone) == .phone)
    }

    /// Limits of one call per address, and of two per identity, user and phone.
    private func ownLimits() -> VendorLimits {
        VendorLimits(
            limiter: Bench {
                for limit in [.identities, .unknown] as [CallLimit] {
                    $0.rates[limit] = CallRate(perSecond: 0.001, burst: 1)
                }
                for limit in [.identity, .user, .phone] as [CallLimit] {
                    $0.rates[limit] = CallRate(perSecond: 0.001, burst: 2)
                }
            }.limiter
        )
    }

    private static func registration(_ key: VendorDeviceKey?, user: UserID? = nil, phone: String? = nil) -> CallNames {
        CallNames([
            .registration(.register(DeviceRegistration(key: key, platform: .ios, user: user, phone: phone)))
        ])
    }

    // Whoever knows the id of a user, phone or device could otherwise lock it out with calls that are all refused.
    @Test func aCallThatItsAddressRefusesTakesNothingOfOthers() {
        let limits = ownLimits()
        let (stranger, victim) = (Self.caller, Self.another(at: "198.51.100.2"))
        #expect(limits.admission(Self.register(nil), stranger) == .admitted(reserved: true))
        let unknown = CallNames([.receipt(.report(.read, message: "m", reporter: Reporter(key: "x"), at: nil))])
        limits.settle(unknown, [.receipt(.orphan)], reserved: false, stranger)
        let named = Self.registration("fresh", user: "victim", phone: "010")
        let nameless = Self.registration(nil, user: "victim", phone: "010")
        let read = CallNames([.preference(.preferences(DeviceCaller(key: "victim-key", user: "victim")))])
        for _ in 0..<100 {
            guard case .ifKnown = limits.admission(named, stranger), case .ifKnown = limits.admission(read, stranger),
                case .refused(let excess) = limits.admission(nameless, stranger)
            else {
                Issue.record("the address has used up its limits")
                return
            }
            #expect(excess.limit == .identities)
        }
        for _ in 0..<2 { #expect(limits.admission(read, victim) == .admitted(reserved: false)) }
        let phone = CallNames([.registration(.verify(phone: "010", code: "1", platform: nil))])
        for _ in 0..<2 { #expect(limits.admission(phone, victim) == .admitted(reserved: false)) }
        guard case .refused = limits.admission(phone, victim) else {
            Issue.record("the phone has its own limit")
            return
        }
    }

    // All limits of a call admit it, or none is used.
    @Test func aLimitThatRefusesLeavesTheOthers() {
        let limits = ownLimits()
        for number in 0..<2 {
            let device = DeviceCaller(key: VendorDeviceKey("k\(number)"), user: "u")
            let read = CallNames([.preference(.preferences(device))])
            #expect(limits.admission(read, Self.caller) == .admitted(reserved: false))
        }
        let both = CallNames([.preference(.preferences(DeviceCaller(key: "k", user: "u")))])
        for _ in 0..<5 {
            guard case .refused(let excess) = limits.admission(both, Self.caller),
                case .refused(let other) = limits.admission(Self.registration("new", user: "u"), Self.caller)
            else {
                Issue.record("the user is limited")
                return
            }
            #expect(excess.limit == .user && other.limit == .user)
        }
        let own = CallNames([.preference(.preferences(DeviceCaller(key: "k")))])
        for _ in 0..<2 { #expect(limits.admission(own, Self.caller) == .admitted(reserved: false)) }
        #expect(limits.admission(Self.registration("new"), Self.caller) == .admitted(reserved: true))
    }

    // A device that the look-up finds is limited by itself.
    @Test func aDeviceThatIsLookedUpHasItsOwnLimit() {
        let limits = ownLimits()
        #expect(limits.admission(Self.register(nil), Self.caller) == .admitted(reserved: true))
        let names = Self.registration("k", user: "u")
        for _ in 0..<2 {
            guard case .ifKnown = limits.admission(names, Self.caller) else {
                Issue.record("the address has used up its limit")
                return
            }
            #expect(limits.takeOwn(names, Self.caller, after: CallNames([])) == nil)
        }
        #expect(limits.takeOwn(names, Self.caller, after: CallNames([]))?.limit == .identity)
        #expect(limits.takeOwn(names, Self.caller, after: names) == nil, "counted by an earlier step")
    }

    // An app names its user when it joins or leaves a group, and others know that name.
    @Test func anAppsChangeOfAGroupIsThatOfItsUser() {
        let rate = CallRate(perSecond: 0.001, burst: 1)
        let limits = VendorLimits(limiter: Bench { $0.rates[.user] = rate }.limiter)
        var change = GroupChange(remove: ["u"])
        let leave = CallNames([.group(.changeMembers("g", change))], isOfDevice: true)
        #expect(limits.admission(leave, Self.caller) == .admitted(reserved: false))
        guard case .refused(let excess) = limits.admission(leave, Self.caller) else {
            Issue.record("the user is not limited")
            return
        }
        #expect(excess.limit == .user)
        change.device = DeviceCaller(key: "k")
        #expect(CallNames([.group(.changeMembers("g", change))], isOfDevice: true).identities == [.key("k")])
        #expect(CallNames([.group(.changeMembers("g", change))]).isEmpty, "a back end's")
    }

    @Test func aBackEndsCallsAreNotLimited() {
        let names = CallNames([
            .group(.put("g")), .user(.erase([.id("u")])), .campaign(.find("c")),
            .sender(.enrol(SenderID("s"), name: nil, address: nil)),
        ])
        #expect(names.isEmpty)
        #expect(CallNames([.sender(.register(name: "bank"))]).creates)
    }
}
