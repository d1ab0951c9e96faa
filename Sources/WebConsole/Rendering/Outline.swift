import PageParts
import Synchronization

/// The markup that a template writes around the texts of all views of one shape.
///
/// Two views that differ only in their texts are written alike except for these texts. So the template library, which looks each name of a view up
/// with several casts, renders a template once for each shape, with marks in place of the texts.
struct Outline: Sendable {
    private struct Piece: Sendable {
        /// The number of the text in front of this markup.
        var text: Int
        var markup: String
    }

    /// Encloses the number of a text. No template contains it.
    private static let mark: Unicode.Scalar = "\u{FFFF}"

    private let head: String
    private let pieces: [Piece]
    /// Of the markup with empty texts, or a little more. Unit: bytes.
    private let length: Int

    /// - Parameter html: what a template writes for a view of marks.
    init(_ html: String) {
        let parts = html.unicodeScalars.split(separator: Self.mark, omittingEmptySubsequences: false).map { part in
            String(String.UnicodeScalarView(part))
        }
        head = parts.first ?? ""
        // Every second part is the number of a text.
        pieces = stride(from: 1, to: parts.count - 1, by: 2).map { place in
            Piece(text: Int(parts[place]) ?? 0, markup: parts[place + 1])
        }
        length = html.utf8.count
    }

    /// The memory that it needs, about.
    var sizeBytes: Int { length + 64 * pieces.count }

    /// The markup with these texts, in the order of `ViewShape`.
    func filled(_ texts: [Markup]) -> Markup {
        var html = head
        html.reserveCapacity(texts.reduce(length) { $0 + $1.html.utf8.count })
        for piece in pieces {
            if texts.indices.contains(piece.text) { html += texts[piece.text].html }
            html += piece.markup
        }
        return Markup(trusted: html)
    }

    /// The mark that stands for a text while the library renders.
    fileprivate static func marked(_ number: Int) -> Markup {
        Markup(trusted: "\(mark)\(number)\(mark)")
    }
}

/// The structure that views have in common if they differ only in their texts.
struct ViewShape {
    /// The template, and the view without its texts.
    private(set) var key: String
    /// The texts as they are written. Those of fields are in the order of the names.
    private(set) var texts: [Markup] = []

    init(_ template: String, _ view: View) {
        key = template + ":"
        add(view)
    }

    private mutating func add(_ view: View) {
        switch view {
        case .text(let text):
            key += "t"
            texts.append(Markup(text: text))
        case .markup(let markup):
            key += "t"
            texts.append(markup)
        case .flag(let flag): key += flag ? "1" : "0"
        case .none: key += "n"
        case .list(let views):
            key += "["
            for view in views { add(view) }
            key += "]"
        case .fields(let fields):
            key += "{"
            for name in fields.keys.sorted() {
                key += name
                key += "="
                add(fields[name] ?? View.none)
            }
            key += "}"
        }
    }
}

extension View {
    /// The view with marks in place of its texts.
    var marked: View {
        var count = 0
        return withMarks(&count)
    }

    /// - Parameter count: the number of marks before this view. The order is that of `ViewShape`.
    /// - Returns: the view with marks in place of its texts.
    private func withMarks(_ count: inout Int) -> View {
        switch self {
        case .text, .markup:
            count += 1
            return .markup(Outline.marked(count - 1))
        case .list(let views):
            var marked: [View] = []
            for view in views { marked.append(view.withMarks(&count)) }
            return .list(marked)
        case .fields(let fields):
            var marked = fields
            for name in fields.keys.sorted() { marked[name] = fields[name]?.withMarks(&count) }
            return .fields(marked)
        case .flag, .none: return self
        }
    }
}

/// The outlines of a renderer by their shapes. Safe to use from any task.
final class Outlines: Sendable {
    private struct Kept: Sendable {
        var outlines: [String: Outline] = [:]
        var sizeBytes = 0
    }

    private let kept = Mutex(Kept())
    private let limitBytes: Int

    /// - Parameter limitBytes: all are dropped before they need more.
    init(limitBytes: Int) { self.limitBytes = limitBytes }

    /// The outline of a shape.
    ///
    /// - Parameters:
    ///   - key: that of the shape.
    ///   - make: renders it, if it is not kept.
    /// - Returns: the kept or the new outline.
    func outline(_ key: String, _ make: () -> Outline) -> Outline {
        if let known = kept.withLock({ $0.outlines[key] }) { return known }
        let made = make()
        let size = key.utf8.count + made.sizeBytes
        kept.withLock { kept in
            // Another task may have kept it meanwhile.
            guard size <= limitBytes, kept.outlines[key] == nil else { return }
            if kept.sizeBytes + size > limitBytes { kept = Kept() }
            kept.outlines[key] = made
            kept.sizeBytes += size
        }
        return made
    }
}
