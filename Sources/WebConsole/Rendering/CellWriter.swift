import PageParts

/// Writes the cells of one table. The markup around the texts of cells of one kind, or of one column, is found once for the table.
struct CellWriter {
    /// Texts above this number of characters are cut by the styles after a few lines, until they have the focus.
    private static let longText = 160

    /// The fields of the template `cell`, of which a cell has one.
    private static let noFields: [String: View] = [
        "text": .none, "long": .none, "strong": .none, "mono": .none, "link": .none, "tag": .none, "bar": .none,
        "actions": .none, "isEmpty": .flag(false),
    ]

    private struct Column {
        /// Around the content and the label of a cell.
        var outline: Outline
        var label: Markup

        init(_ column: Table.Column, _ renderer: Renderer) {
            outline = renderer.outline(
                "td",
                .fields(["content": .text(""), "isNumber": .flag(column.isNumber), "label": .text("")])
            )
            label = Markup(text: column.label)
        }
    }

    private let writer: PageWriter
    private let columns: [Column]
    /// A cell without a column has an empty label.
    private let noColumn: Column
    private let text: Outline
    private let long: Outline
    private let strong: Outline
    private let mono: Outline
    /// Around address and label.
    private let link: Outline
    /// Around style and text.
    private let tag: Outline
    private let empty: Markup
    /// Around the cells of a row, and around cells and id.
    private let plainRow: Outline
    private let namedRow: Outline

    init(_ writer: PageWriter, _ columns: [Table.Column]) {
        let renderer = writer.renderer
        self.writer = writer
        self.columns = columns.map { Column($0, renderer) }
        noColumn = Column(Table.Column(label: ""), renderer)
        text = renderer.outline("cell", Self.view("text", .text("")))
        long = renderer.outline("cell", Self.view("long", .text("")))
        strong = renderer.outline("cell", Self.view("strong", .text("")))
        mono = renderer.outline("cell", Self.view("mono", .text("")))
        link = renderer.outline("cell", Self.view("link", .fields(["href": .text(""), "label": .text("")])))
        tag = renderer.outline("cell", Self.view("tag", .fields(["style": .text(""), "text": .text("")])))
        empty = renderer.markup("cell", Self.view("isEmpty", .flag(true)))
        plainRow = renderer.outline("row", .fields(["cells": .text(""), "id": .none]))
        namedRow = renderer.outline("row", .fields(["cells": .text(""), "id": .text("")]))
    }

    func row(_ row: Table.Row) -> Markup {
        guard let id = row.id, !id.isEmpty else { return plainRow.filled([cells(row)]) }
        return namedRow.filled([cells(row), Markup(text: id)])
    }

    /// All cells of a row.
    private func cells(_ row: Table.Row) -> Markup {
        Markup(
            row.cells.enumerated().map { place, cell in
                let column = place < columns.count ? columns[place] : noColumn
                return column.outline.filled([content(cell), column.label])
            }
        )
    }

    private func content(_ cell: Table.Cell) -> Markup {
        switch cell {
        case .text(let value): (Self.isLong(value) ? long : text).filled([Markup(text: value)])
        case .strong(let value): strong.filled([Markup(text: value)])
        case .mono(let value): mono.filled([Markup(text: value)])
        case .link(let value): link.filled([Markup(text: writer.place.href(value)), Markup(text: value.label)])
        case .tag(let mark, let value): tag.filled([Markup(text: mark.rawValue), Markup(text: value)])
        case .bar(let segments, let words): markup("bar", bar(segments, words))
        case .actions(let actions): markup("actions", .fields(["actions": writer.actions(actions)]))
        case .none: empty
        }
    }

    /// Characters are counted only if there are enough bytes for so many.
    private static func isLong(_ text: String) -> Bool { text.utf8.count > longText && text.count > longText }

    private static func view(_ name: String, _ value: View) -> View {
        var fields = noFields
        fields[name] = value
        return .fields(fields)
    }

    private func markup(_ name: String, _ value: View) -> Markup {
        writer.renderer.markup("cell", Self.view(name, value))
    }

    private func bar(_ segments: [Table.Segment], _ words: String) -> View {
        var start = 0.0
        let parts = segments.map { segment in
            let width = Drawing.share(segment.share, of: 120)
            defer { start += width }
            return View.fields([
                "style": .text(segment.style.rawValue), "x": .text(Drawing.number(min(start, 120))),
                "width": .text(Drawing.number(min(width, 120 - min(start, 120)))),
            ])
        }
        return .fields(["words": .text(words), "segments": .list(parts)])
    }
}
