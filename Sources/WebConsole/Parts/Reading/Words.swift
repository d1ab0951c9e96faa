import Model

/// Writes the values of answers in the language and the zone of a request. A missing member is shown as –, never as an error.
struct Words: Sendable {
    /// Unknown, which is not zero.
    static let unknown = ConsoleFormat.unknown

    let format: ConsoleFormat

    init(_ request: PageRequest) { format = ConsoleFormat(request) }

    var language: Language { format.language }
    var now: Timestamp { format.now }

    func callAsFunction(_ text: Text) -> String { text(language) }

    func count(_ value: Int64?) -> String { format.count(value) }
    func count(_ json: JSON?) -> String { format.count(json?.int) }

    /// A share as per cent with one decimal: `97.0%`; – of nothing.
    func rate(_ part: Int64, of whole: Int64) -> String { format.rate(part, of: whole) }

    func bytes(_ value: Int64?) -> String { value.map { format.bytes($0) } ?? Self.unknown }

    /// A latency: `162 ms`, `1.2 s`.
    func latency(_ milliseconds: Int64?) -> String {
        guard let milliseconds, milliseconds >= 0 else { return Self.unknown }
        return milliseconds < 1000 ? "\(milliseconds) ms" : format.duration(milliseconds: milliseconds)
    }

    // MARK: Times

    func moment(_ json: JSON?) -> Timestamp? { json?.string.flatMap { Timestamp(rfc3339: $0) } }

    /// A moment: `Mon 23 Nov 14:05`; – without one. Pages name the zone in the top bar.
    func time(_ json: JSON?) -> String { format.dateTime(moment(json)) }
    func time(_ moment: Timestamp) -> String { format.dateTime(moment) }
}
