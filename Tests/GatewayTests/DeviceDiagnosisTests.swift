import Commands
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import Explain
@testable import Store

private typealias Sample = DiagnosisSample

/// Each condition of a diagnosis, from facts.
@Suite struct DeviceDiagnosisTests {
    private static let now = DiagnosisSample.now

    private static func delivery(
        _ state: DeliveryState,
        reason: String? = nil,
        at seconds: Int = 60,
        received: Int? = nil
    ) -> DeliveryFacts {
        var snapshot = DeliverySnapshot(message: MessageID(UUID()), target: TargetID(UUID()), state: state)
        snapshot.reason = reason
        snapshot.sentAt = now + .seconds(-seconds)
        snapshot.receivedAt = received.map { now + .seconds(-$0) }
        return DeliveryFacts(snapshot: snapshot, isCertain: true, attempts: 1, payloadBytes: 100)
    }

    private func condition(_ name: DeviceCondition.Name, of diagnosis: DeviceDiagnosis) throws -> DeviceCondition {
        try #require(diagnosis.conditions.first { $0.name == name })
    }

    /// The condition is not met and prevents the push, with its sentence as the answer.
    private func prevents(
        _ name: DeviceCondition.Name,
        _ diagnosis: DeviceDiagnosis,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> DeviceCondition {
        let found = try condition(name, of: diagnosis)
        #expect(found.isMet == false && found.blocks, sourceLocation: sourceLocation)
        #expect(!diagnosis.isReachable && diagnosis.answer == found.text, sourceLocation: sourceLocation)
        #expect(diagnosis.preventing.map(\.name) == [name], sourceLocation: sourceLocation)
        #expect(found.action != nil, sourceLocation: sourceLocation)
        return found
    }

    // docs/routing.md#upstream-sending: an upstream needs neither a token nor the app's credential.
    @Test func anUpstreamNeedsNoTokenAndNoCredential() throws {
        let bare = Sample.diagnosis { diagnosis in
            diagnosis.facts.device.token = nil
            diagnosis.facts.device.tokenState = .none
            diagnosis.facts.routes = [:]
        }
        #expect(!bare.isReachable)
        var routed = bare
        routed.upstream = "old"
        #expect(routed.isReachable)
        let token = try #require(routed.conditions.first { $0.name == .token })
        #expect(token.isMet == true && token.text.contains("upstream old"))
    }

    @Test func aHealthyDeviceIsReachable() {
        let diagnosis = Sample.diagnosis()
        #expect(diagnosis.isReachable && diagnosis.answer == "Nothing prevents a push to this device now.")
        #expect(Set(diagnosis.conditions.map(\.name)) == Set(DeviceCondition.Name.allCases))
        #expect(diagnosis.conditions.filter { $0.isMet == false }.map(\.name) == [.optIn])
        for condition in diagnosis.conditions {
            #expect(condition.text.hasSuffix(".") && condition.text.first?.isUppercase == true, "\(condition.text)")
        }
    }

    @Test func aRetiredAppPreventsPushes() throws {
        let found = try prevents(.app, Sample.diagnosis { $0.facts.retiredAt = Self.now + .seconds(-9) })
        #expect(found.since == Self.now + .seconds(-9))
    }

    @Test func aPlatformWithoutATransportPreventsPushes() throws {
        let diagnosis = Sample.diagnosis {
            $0.facts.device.platform = .android
            $0.facts.routes[.android] = PlatformRoute(topic: "", credentials: [.production: "google"])
        }
        let found = try prevents(.platform, diagnosis)
        #expect(found.text == ReasonText.entry("noTransport")?.meaning)
    }

    @Test func aDeviceNeedsAnActiveRegistration() throws {
        let found = try prevents(.registration, Sample.diagnosis([]))
        #expect(found.identity == nil)
        let former = Sample.diagnosis([Sample.identity(state: .replaced), Sample.identity("u", state: .unregistered)])
        #expect(try prevents(.registration, former).text == "The device has no active registration.")
        let texts = former.conditions.filter { $0.name == .registration }.map(\.text)
        #expect(texts.count == 3 && texts[1] == "Another registration replaced this one.")
        // A former registration does not prevent pushes to the present one.
        let both = Sample.diagnosis([Sample.identity(), Sample.identity("old", state: .removed)])
        #expect(both.isReachable)
        #expect(both.conditions.filter { $0.name == .registration }.map(\.isMet) == [true, false])
    }

    @Test func aRegistrationThatHasEndedSaysSince() throws {
        let end = Self.now + .seconds(-60)
        let ended = Sample.identity(state: .unregistered) { $0.endsAt = end }
        let found = Sample.diagnosis([ended]).conditions.filter { $0.name == .registration }
        #expect(found.map(\.since) == [nil, end] && found.last?.text == "The registration has ended.")
    }

    @Test func anInvalidTokenSaysWhyAndSinceWhen() throws {
        let rejected = Self.delivery(.failed, reason: "Unregistered", at: 600)
        let diagnosis = Sample.diagnosis {
            $0.facts.device.tokenState = .invalid
            $0.facts.tokenReason = "Unregistered"
            $0.facts.deliveries = [Self.delivery(.suppressed, reason: "noDevice"), rejected]
        }
        let found = try prevents(.token, diagnosis)
        #expect(found.since == rejected.snapshot.sentAt && found.text.contains("removed from the device"))
        #expect(found.action == ReasonText.entry("Unregistered")?.advice)
        // A rejection of the token before is not its beginning.
        var renewed = diagnosis
        renewed.facts.device.tokenRegisteredAt = Self.now + .seconds(-300)
        #expect(try condition(.token, of: renewed).since == nil)
    }

    @Test func aMissingOrQuarantinedTokenPreventsPushes() throws {
        let missing = Sample.diagnosis {
            $0.facts.device.token = nil
            $0.facts.device.tokenState = .none
        }
        #expect(try prevents(.token, missing).text == "The device has no token.")
        let doubtful = Sample.diagnosis {
            $0.facts.device.tokenState = .quarantined
            $0.facts.tokenReason = "BadDeviceToken"
        }
        #expect(try prevents(.token, doubtful).action?.contains("sandbox builds") == true)
        #expect(try condition(.token, of: Sample.diagnosis()).since == Self.now + .seconds(-7200))
    }

    @Test func theRouteNeedsATopicAndACredentialOfTheEnvironment() throws {
        let sandbox = Sample.diagnosis {
            $0.facts.device.environment = .sandbox
            $0.standing = nil
        }
        #expect(try prevents(.route, sandbox).text == "The app has no credential for ios sandbox.")
        #expect(try condition(.credential, of: sandbox).isMet == nil)
        let topicless = Sample.diagnosis { $0.facts.routes[.ios]?.topic = "" }
        #expect(try prevents(.route, topicless).text == "The app has no topic for ios.")
        let none = Sample.diagnosis { $0.facts.routes = [:] }
        #expect(try prevents(.route, none).action?.contains("provisioning file") == true)
        #expect(try condition(.route, of: Sample.diagnosis()).text.contains("topic com.example.shop, credential apple"))
    }

    @Test func aRefusedOrMissingCredentialPreventsPushes() throws {
        let refused = Sample.diagnosis {
            $0.standing?.refusal = "InvalidProviderToken"
            $0.standing?.refusedAt = Self.now + .seconds(-30)
        }
        let found = try prevents(.credential, refused)
        #expect(found.since == Self.now + .seconds(-30) && found.text.contains("InvalidProviderToken"))
        #expect(found.action?.contains("teamId") == true)
        #expect(try prevents(.credential, Sample.diagnosis { $0.standing = nil }).text.contains("not provisioned"))
    }

    @Test func anUnknownDialectPreventsPushes() throws {
        let found = try prevents(.dialect, Sample.diagnosis { $0.dialects = [:] })
        #expect(found.identity?.vendor == .native)
    }

    @Test func aUserOrASystemThatDeclinesPreventsPushes() throws {
        let off = Sample.diagnosis([Sample.identity { $0.target.acceptsPush = false }])
        #expect(try prevents(.pushSetting, off).text == ReasonText.entry("preference")?.meaning)
        let denied = Sample.identity {
            $0.target.acceptsPush = false
            $0.deniesPush = true
        }
        let found = try prevents(.pushSetting, Sample.diagnosis([denied]))
        #expect(found.action?.contains("settings of the device") == true)
    }

    @Test func theLaneDecidesWhichLevelIsNeeded() throws {
        let claimed = Sample.identity { $0.userSince = Self.now + .seconds(-5) }
        func diagnosis(_ lane: Lane) -> DeviceDiagnosis {
            Sample.diagnosis([claimed], lane: lane) {
                $0.facts.assurance = AssuranceRules(minimum: .claimed, lanes: [.transactional: .vouched])
            }
        }
        #expect(diagnosis(.bulk).isReachable)
        let found = try prevents(.assurance, diagnosis(.transactional))
        #expect(found.since == claimed.userSince && found.action?.contains("vouch") == true)
        let pending = Sample.diagnosis([Sample.identity { $0.target.assurance = .pending }])
        #expect(try prevents(.assurance, pending).text.contains("pending"))
    }

    @Test func anOutrankedIdentityIsNotReachedUnlessLevelsAreMixed() throws {
        let outranked = Sample.identity { $0.isOutranked = true }
        _ = try prevents(.highestLevel, Sample.diagnosis([outranked]))
        #expect(Sample.diagnosis([outranked]) { $0.facts.assurance.isMixed = true }.isReachable)
    }

    @Test func optInsAndSubjectsPreventNothing() throws {
        let identity = Sample.identity {
            $0.target.isOptedIn = true
            $0.consents = ["news": .unsubscribed, "orders": .subscribed]
        }
        let diagnosis = Sample.diagnosis([identity])
        #expect(diagnosis.isReachable)
        #expect(try condition(.optIn, of: diagnosis).isMet == true)
        let found = try condition(.consents, of: diagnosis)
        #expect(found.isMet == false && found.text == "The user has unsubscribed from: news.")
    }

    @Test func aPausedLanePreventsPushes() throws {
        _ = try prevents(.lane, Sample.diagnosis { $0.facts.isLanePaused = true })
    }

    @Test func quietHoursSayUntilWhen() throws {
        let seoul = TimeZoneName(stored: "Asia/Seoul")
        func diagnosis(_ hold: AppTiming.Hold, lane: Lane = .bulk) -> DeviceDiagnosis {
            Sample.diagnosis(lane: lane) {
                $0.facts.timing.timeZone = seoul
                $0.facts.timing.quietHours = AppTiming.QuietHours(from: 840, to: 960, hold: hold)
            }
        }
        let found = try prevents(.quietHours, diagnosis(.delay))
        #expect(found.until == Self.now + .seconds(3600) && found.text.contains("quiet hours, 1400 to 1600"))
        #expect(try prevents(.quietHours, diagnosis(.suppress)).text == ReasonText.entry("quietHours")?.meaning)
        #expect(diagnosis(.delay, lane: .urgent).isReachable)
        #expect(try condition(.receivingWindow, of: diagnosis(.delay)).isMet == true)
    }

    @Test func theReceivingWindowSaysUntilWhen() throws {
        let diagnosis = Sample.diagnosis {
            $0.facts.device.clock = DeviceClock(
                timeZone: TimeZoneName(stored: "Asia/Seoul"),
                window: DailyWindow(from: 1080, to: 1320)
            )
        }
        let found = try prevents(.receivingWindow, diagnosis)
        #expect(found.until == Self.now + .seconds(3 * 3600) && found.text.contains("1800-2200 in Asia/Seoul"))
        #expect(try condition(.quietHours, of: diagnosis).isMet == true)
    }

    @Test func theCapCountsInItsLanesOnly() throws {
        func diagnosis(_ sent: Int, _ lane: Lane = .bulk) -> DeviceDiagnosis {
            Sample.diagnosis(lane: lane) {
                $0.facts.timing.cap = AppTiming.FrequencyCap(count: 5, period: .seconds(86_400))
                $0.facts.sentInPeriod = sent
            }
        }
        #expect(diagnosis(4).isReachable && diagnosis(5, .transactional).isReachable)
        #expect(try prevents(.frequencyCap, diagnosis(5)).text.contains("5 of at most 5 messages in the last 24 hours"))
    }

    @Test func theLastDeliveryIsExplained() throws {
        #expect(try condition(.lastDelivery, of: Sample.diagnosis()).isMet == nil)
        let failed = Sample.diagnosis { $0.facts.deliveries = [Self.delivery(.failed, reason: "PayloadTooLarge")] }
        let found = try condition(.lastDelivery, of: failed)
        #expect(found.isMet == false && !found.blocks && found.since == Self.now + .seconds(-60))
        #expect(found.text.contains("above APNs' limit") && found.action?.contains("Shorten") == true)
        let sent = Sample.diagnosis { $0.facts.deliveries = [Self.delivery(.sent)] }
        #expect(try condition(.lastDelivery, of: sent).isMet == true)
    }

    @Test func missingReceiptsSaySinceWhen() throws {
        let silent = Sample.diagnosis {
            $0.facts.deliveries = [
                Self.delivery(.sent, at: 10), Self.delivery(.sent, at: 20),
                Self.delivery(.received, at: 30, received: 25),
            ]
        }
        let found = try condition(.receipts, of: silent)
        #expect(found.isMet == false && !found.blocks && found.since == Self.now + .seconds(-25))
        let reported = Sample.diagnosis { $0.facts.deliveries = [Self.delivery(.received, received: 50)] }
        #expect(try condition(.receipts, of: reported).since == Self.now + .seconds(-50))
        let mute = Sample.diagnosis {
            $0.dialects[.native] = Reporting(received: .never, read: .never)
            $0.facts.deliveries = [Self.delivery(.sent)]
        }
        #expect(try condition(.receipts, of: mute).isMet == nil)
    }

    @Test func oneOfSeveralIdentitiesSuffices() {
        let off = Sample.identity("off") { $0.target.acceptsPush = false }
        #expect(Sample.diagnosis([off, Sample.identity()]).isReachable)
        let low = Sample.identity("low") { $0.target.assurance = .pending }
        #expect(Sample.diagnosis([off, low]).preventing.map(\.name) == [.pushSetting, .assurance])
    }
}
