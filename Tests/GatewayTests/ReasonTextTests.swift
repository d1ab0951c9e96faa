import APNs
import DeliveryEngine
import Model
import Testing

@testable import Explain

/// Every reason that a delivery can have is explained.
struct ReasonTextTests {
    private static let ours =
        SuppressionReason.allCases.map(\.rawValue) + FailureReason.allCases.map(\.rawValue)
        + PayloadProblem.allCases.map(\.rawValue) + ["InvalidPayload"]

    /// docs/contracts/apns.md#9 and docs/contracts/apns.md#12, in the spelling of APNs.
    private static let theirs = ReasonRule.table.map(\.name)

    @Test(arguments: ours + theirs)
    func reasonHasItsMeaningAndAdvice(_ reason: String) throws {
        let entry = try #require(ReasonText.entry(reason), "no sentence for \(reason)")
        for sentence in [entry.meaning, entry.advice] {
            #expect(sentence.count > 15 && sentence.hasSuffix("."), "\(reason): \(sentence)")
            #expect(sentence.first?.isUppercase == true || sentence.hasPrefix("teamId"), "\(reason): \(sentence)")
        }
    }

    // A reason that only the push service knows is shown unchanged, without a sentence that might be wrong.
    @Test func unknownReasonHasNone() { #expect(ReasonText.entry("SomethingNew") == nil) }

    // The list above is Apple's: every reason of docs/contracts/apns.md#9 is in it.
    @Test func theTableContainsApplesReasons() {
        #expect(Self.theirs.count >= 41 && Set(Self.theirs).count == Self.theirs.count)
        #expect(Set(Self.theirs).isSuperset(of: ["BadDeviceToken", "Unregistered", "TooManyRequests", "Shutdown"]))
    }
}
