import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import Explain
@testable import Store

/// The cause for which each message of a diagnosis waits, from facts.
@Suite struct WaitingMessageTests {
    private static let now = DiagnosisSample.now

    /// A message that is queued for a minute, then changed.
    private static func message(_ change: (inout WaitingFacts) -> Void = { _ in }) -> WaitingFacts {
        var facts = WaitingFacts(
            message: MessageID(UUID()),
            vendor: .native,
            state: .sending,
            lane: .bulk,
            acceptedAt: now + .seconds(-60),
            dueAt: now + .seconds(-60),
            expiresAt: now + .seconds(86_400)
        )
        facts.target = TargetID(UUID())
        facts.queue = QueueFacts(
            slice: 0,
            state: "ready",
            nextAt: now + .seconds(-60),
            attempts: 0,
            isLanePaused: false,
            seenAt: now
        )
        change(&facts)
        return facts
    }

    /// A device to which nothing prevents a push, for which `messages` wait.
    private static func diagnosis(_ messages: [WaitingFacts]) -> DeviceDiagnosis {
        DiagnosisSample.diagnosis { $0.facts.waiting = messages }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var cause: WaitingMessage.Cause
        /// Seconds from the present.
        var since = -60
        var until: Int?
        var text: String
        var change: @Sendable (inout WaitingFacts) -> Void
        var testDescription: String { cause.rawValue }
    }

    static let cases = [
        Case(cause: .approval, since: -30, text: "waits for an approval") { facts in
            facts.state = .awaitingApproval
            facts.pausedAt = now + .seconds(-30)
        },
        Case(cause: .paused, since: -30, text: "is paused") { facts in
            facts.state = .paused
            facts.pausedAt = now + .seconds(-30)
        },
        Case(cause: .gaveUp, text: "tried too often (ServiceUnavailable)") {
            $0.queue?.deadReason = "ServiceUnavailable"
        },
        Case(cause: .sending, text: "is being sent") { $0.queue?.state = "leased" },
        Case(cause: .lane, text: "lane bulk is paused") { $0.isLanePaused = true },
        Case(cause: .schedule, until: 600, text: "is scheduled for 2026-11-26T06:10:00") {
            $0.dueAt = now + .seconds(600)
        },
        Case(cause: .audience, text: "has not read its audience") { facts in
            facts.target = nil
            facts.isSelected = false
        },
        Case(cause: .credential, until: 300, text: "waits for the credential apple.") { facts in
            facts.queue?.heldBy = "apple"
            facts.queue?.nextAt = now + .seconds(300)
        },
        Case(cause: .upstream, text: "waits for the upstream old, which was refused with 503") {
            $0.queue?.heldBy = "old"
        },
        Case(cause: .retry, until: 300, text: "tries so far: 2") { facts in
            facts.queue?.attempts = 2
            facts.queue?.nextAt = now + .seconds(300)
        },
        Case(cause: .pace, until: 300, text: "throttled") { facts in
            facts.isPaced = true
            facts.queue?.nextAt = now + .seconds(300)
        },
        Case(cause: .queue, text: "is queued") { _ in },
        Case(cause: .queue, text: "is queued") { $0.queue = nil },
    ]

    @Test(arguments: cases) func eachCauseIsTheAnswer(_ planted: Case) throws {
        var diagnosis = Self.diagnosis([Self.message(planted.change)])
        diagnosis.holders = [
            "apple": CredentialStanding(kind: "apns-token"),
            "old": CredentialStanding(kind: "upstream-braze", refusal: "503"),
        ]
        let found = try #require(diagnosis.waiting.first)
        #expect(found.cause == planted.cause)
        #expect(found.since == Self.now + .seconds(planted.since))
        #expect(found.until == planted.until.map { Self.now + .seconds($0) })
        #expect(found.text.contains(planted.text) && !found.action.isEmpty, "\(found.text)")
        #expect(diagnosis.isReachable && diagnosis.answer == found.text)
        let subject = planted.cause == .audience ? "A message that may select the device " : "A message to the device "
        #expect(found.text.hasPrefix(subject))
    }

    @Test func hoursAreThoseOfTheDevice() throws {
        // 14:00 to 16:00 in Seoul; the lane of the diagnosis has none.
        var diagnosis = Self.diagnosis([Self.message()])
        diagnosis.facts.lane = .urgent
        let seoul = TimeZoneName(stored: "Asia/Seoul")
        diagnosis.facts.timing.quietHours = AppTiming.QuietHours(from: 840, to: 960, zone: seoul)
        let found = try #require(diagnosis.waiting.first)
        #expect(found.cause == .quietHours && found.until == Self.now + .seconds(3600))
        #expect(diagnosis.answer == found.text)
    }

    @Test func aSpentRateIsNamedByWhomItLimits() throws {
        var diagnosis = Self.diagnosis([Self.message()])
        diagnosis.spentBudgets = [PushRate.budget(of: "apple")]
        #expect(diagnosis.waiting.first?.cause == .rate && diagnosis.waiting.first?.credential == "apple")
        diagnosis.spentBudgets.insert(PushRate.tenantBudget)
        #expect(diagnosis.answer.contains("the rate limit of the tenant"))
    }

    @Test func aRefusedCredentialIsNamedWithItsReason() throws {
        var diagnosis = Self.diagnosis([Self.message { $0.queue?.heldBy = "apple" }])
        diagnosis.holders["apple"] = CredentialStanding(
            kind: "apns-token",
            refusal: "InvalidProviderToken",
            refusedAt: Self.now + .seconds(-600)
        )
        let found = try #require(diagnosis.waiting.first)
        #expect(found.reason == "InvalidProviderToken" && found.since == Self.now + .seconds(-600))
        #expect(found.action.contains("teamId") && found.credential == "apple")
    }

    @Test func aConditionComesFirst() throws {
        var diagnosis = Self.diagnosis([Self.message()])
        diagnosis.facts.device.token = nil
        diagnosis.facts.device.tokenState = .none
        #expect(diagnosis.answer == diagnosis.preventing.first?.text && diagnosis.waiting.count == 1)
    }

    // A campaign to everyone that is planned for tomorrow concerns each device.
    @Test func whatIsDueLaterAndMayNotSelectTheDeviceIsNoAnswer() throws {
        let planned = Self.message { facts in
            facts.dueAt = Self.now + .seconds(3600)
            facts.isSelected = false
            facts.target = nil
        }
        let diagnosis = Self.diagnosis([planned])
        #expect(diagnosis.waiting.first?.cause == .schedule)
        #expect(diagnosis.answer == "Nothing prevents a push to this device now.")
    }
}
