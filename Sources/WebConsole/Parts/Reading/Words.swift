package import Model

/// Writes the values of answers in the language and the zone of a request. A missing member is shown as –, never as an error.
package struct Words: Sendable {
    /// Unknown, which is not zero.
    package static let unknown = ConsoleFormat.unknown

    package let format: ConsoleFormat

    package init(_ request: PageRequest) { format = ConsoleFormat(request) }

    package var language: Language { format.language }
    package var now: Timestamp { format.now }

    package func callAsFunction(_ text: Text) -> String { text(language) }

    package func count(_ value: Int64?) -> String { format.count(value) }
    package func count(_ json: JSON?) -> String { format.count(json?.int) }

    /// A share as per cent with one decimal: `97.0%`; – of nothing.
    package func rate(_ part: Int64, of whole: Int64) -> String { format.rate(part, of: whole) }

    package func bytes(_ value: Int64?) -> String { value.map { format.bytes($0) } ?? Self.unknown }

    /// A latency: `162 ms`, `1.2 s`.
    package func latency(_ milliseconds: Int64?) -> String {
        guard let milliseconds, milliseconds >= 0 else { return Self.unknown }
        return milliseconds < 1000 ? "\(milliseconds) ms" : format.duration(milliseconds: milliseconds)
    }

    // MARK: Times

    package func moment(_ json: JSON?) -> Timestamp? { json?.string.flatMap { Timestamp(rfc3339: $0) } }

    /// A moment: `Mon 23 Nov 14:05`; – without one. Pages name the zone in the top bar.
    package func time(_ json: JSON?) -> String { format.dateTime(moment(json)) }
    package func time(_ moment: Timestamp) -> String { format.dateTime(moment) }
}
