package import Model

/// The state of a delivery's fallback, in the numbers of `msgInfo` and of the tracking callback.
///
/// The record in `DeliverySnapshot.fallback` is `{"a":{"s","st"},"m":{"t","s","st"}}`: Alimtalk and text message, each with its state (1 requested, 2
/// delivered, 3 failed) and time (ms), the text message with its type (12 SMS, 13 LMS, 14 MMS). A part that was not used is absent. The numbers are
/// closed sets in the apps, so any other number counts as "not sent", 0 (docs/contracts/rationalowl.md#4.1, docs/contracts/rationalowl.md#14).
package struct FallbackStates: Sendable, Hashable {
    package var alimtalk: Int64 = 0
    /// Milliseconds since 1970; 0 if none was sent.
    package var alimtalkTime: Int64 = 0
    package var text: Int64 = 0
    package var textTime: Int64 = 0
    package var textType: Int64 = 0

    package static let none = FallbackStates(nil)

    package init(_ record: JSON?) {
        let alimtalk = record?["a"]
        if let state = Self.state(alimtalk) {
            self.alimtalk = state
            alimtalkTime = Self.time(alimtalk)
        }
        let text = record?["m"]
        if let state = Self.state(text), let type = text?["t"]?.int, (12...14).contains(type) {
            self.text = state
            textTime = Self.time(text)
            textType = type
        }
    }

    package var isUsed: Bool { alimtalk != 0 || text != 0 }

    private static func state(_ part: JSON?) -> Int64? {
        part?["s"]?.int.flatMap { (1...3).contains($0) ? $0 : nil }
    }

    private static func time(_ part: JSON?) -> Int64 {
        max(0, part?["st"]?.int ?? 0)
    }
}
