internal import Glibc

/// The name of an HTTP field, made from a literal, so that its bytes live as long as the program.
///
/// Lower case, as HTTP/2 demands (RFC 9113 §8.2.1).
package struct FieldName: Sendable, Equatable, CustomStringConvertible {
    /// What HPACK may remember of a field.
    package enum Indexing: Sendable, Equatable {
        /// Name and value enter the peer's table: for values that repeat.
        case always
        /// Only the first use on a connection enters the table, to place the name: for values that differ each time.
        ///
        /// Indexed, a random `apns-id` flushes the 4 KiB table on every request; this saves 15 % CPU (engineering notes).
        case nameOnce
        /// Never remembered by anyone on the way: for secrets that are short enough to guess.
        case never
    }

    private let literal: StaticString
    /// What HPACK may remember.
    let indexing: Indexing

    /// Makes a name from a lower-case literal.
    package init(_ literal: StaticString, indexing: Indexing = .always) {
        self.literal = literal
        self.indexing = indexing
    }

    /// The name as text.
    package var description: String { literal.description }

    /// Names are equal when their text is; what HPACK may remember does not matter.
    package static func == (left: FieldName, right: FieldName) -> Bool {
        unsafe left.matches(right.base, count: right.count)
    }

    /// Every request's own pseudo field.
    static let path = FieldName(":path")

    var count: Int { literal.utf8CodeUnitCount }

    var isPseudo: Bool { description.hasPrefix(":") }

    /// The literal's bytes: never freed, and never written although nghttp2's type lacks `const`.
    var base: UnsafeMutablePointer<UInt8> { unsafe UnsafeMutablePointer(mutating: literal.utf8Start) }

    /// Whether a name off the wire is this one.
    func matches(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe count == self.count && memcmp(bytes, literal.utf8Start, count) == 0
    }
}
