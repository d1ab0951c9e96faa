internal import Glibc

/// The name of an HTTP field. It is made from a literal, so that its bytes are valid as long as the program runs.
///
/// Lower case, as HTTP/2 requires (RFC 9113 §8.2.1).
package struct FieldName: Sendable, Equatable, CustomStringConvertible {
    /// How HPACK may index a field.
    package enum Indexing: Sendable, Equatable {
        /// Name and value enter the peer's table. For values that repeat.
        case always
        /// Only the first use on a connection enters the table, so that the name is indexed. For values that differ each time.
        ///
        /// If it were always indexed, a random `apns-id` would flush the 4 KiB table on every request; this setting saves 15 % CPU (measured).
        case nameOnce
        /// No party on the path may index it. For secrets that are short enough to guess.
        case never
    }

    private let literal: StaticString
    /// How HPACK may index the field.
    let indexing: Indexing

    /// Creates a name from a lower-case literal.
    package init(_ literal: StaticString, indexing: Indexing = .always) {
        self.literal = literal
        self.indexing = indexing
    }

    /// The name as text.
    package var description: String { literal.description }

    /// Names are equal if their text is equal; the indexing does not matter.
    package static func == (left: FieldName, right: FieldName) -> Bool {
        unsafe left.matches(right.base, count: right.count)
    }

    /// The pseudo field that each request sets itself.
    static let path = FieldName(":path")

    var count: Int { literal.utf8CodeUnitCount }

    var isPseudo: Bool { description.hasPrefix(":") }

    /// The literal's bytes. They are never freed, and never written although nghttp2's type lacks `const`.
    var base: UnsafeMutablePointer<UInt8> { unsafe UnsafeMutablePointer(mutating: literal.utf8Start) }

    /// Whether a received name equals this one.
    func matches(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe count == self.count && memcmp(bytes, literal.utf8Start, count) == 0
    }
}
