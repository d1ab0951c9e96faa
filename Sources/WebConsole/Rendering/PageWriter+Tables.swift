import Model

extension PageWriter {
    /// Texts above this number of characters are cut by the styles after a few lines, until they have the focus.
    private static let longText = 160

    func table(_ table: Table) -> Markup {
        if table.rows.isEmpty, let state = table.empty { return empty(state) }
        let sort = place.query.first { $0.name == "sort" }?.value
        return markup(
            "table",
            [
                "caption": .text(table.caption),
                "columns": .each(table.columns) { column in
                    .fields([
                        "label": .text(column.label), "isEmpty": .flag(column.label.isEmpty),
                        "isNumber": .flag(column.isNumber),
                        "isSorted": .flag(column.sort != nil && column.sort == sort),
                        "href": .optional(column.sort.map { place.href(changing: [.init("sort", $0)]) }),
                    ])
                },
                "rows": .each(table.rows) { row in
                    .fields(["id": .optional(row.id), "cells": cells(row, table.columns)])
                },
                "none": table.rows.isEmpty ? .text(text(CommonText.noRows)) : .none,
                "next": link(table.next),
                "new": .text(text(CommonText.newRows)),
            ]
        )
    }

    /// A cell without a column has an empty label.
    private func cells(_ row: Table.Row, _ columns: [Table.Column]) -> View {
        .each(row.cells.enumerated()) { place, cell in
            let column = place < columns.count ? columns[place] : Table.Column(label: "")
            return .fields([
                "label": .text(column.label), "isNumber": .flag(column.isNumber), "content": .markup(content(cell)),
            ])
        }
    }

    private func content(_ cell: Table.Cell) -> Markup {
        var fields: [String: View] = [
            "text": .none, "long": .none, "strong": .none, "mono": .none, "link": .none, "tag": .none, "bar": .none,
            "actions": .none, "isEmpty": .flag(false),
        ]
        switch cell {
        case .text(let text): fields[text.count > Self.longText ? "long" : "text"] = .text(text)
        case .strong(let text): fields["strong"] = .text(text)
        case .mono(let text): fields["mono"] = .text(text)
        case .link(let link): fields["link"] = self.link(link)
        case .tag(let mark, let text): fields["tag"] = .fields(["style": .text(mark.rawValue), "text": .text(text)])
        case .bar(let segments, let words): fields["bar"] = bar(segments, words)
        case .actions(let actions): fields["actions"] = .fields(["actions": self.actions(actions)])
        case .none: fields["isEmpty"] = .flag(true)
        }
        return markup("cell", fields)
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

    func funnel(_ funnel: FunnelChart) -> Markup {
        let whole = Double(max(1, funnel.stages.map(\.value).max() ?? 1))
        var previous: Int?
        let stages = funnel.stages.map { stage in
            defer { previous = stage.value }
            let isApp = stage.style == .app
            // The deliveries lost since the stage before, or those whose devices can report.
            let back = stage.able ?? (isApp ? nil : previous)
            let lost = stage.able == nil && !isApp ? previous.map { $0 > stage.value ? $0 &- stage.value : 0 } ?? 0 : 0
            return View.fields([
                "name": .text(stage.name), "value": .text(place.format.count(stage.value)),
                "rate": .optional(stage.rate), "source": .text(stage.source), "note": .optional(stage.note),
                "style": .text(stage.style.rawValue),
                "back": back.map { value in
                    .fields([
                        "style": .text(stage.able == nil ? "lost" : "able"),
                        "width": .text(Drawing.number(Drawing.share(Double(value) / whole, of: 1000))),
                    ])
                } ?? .none,
                "width": .text(Drawing.number(Drawing.share(Double(stage.value) / whole, of: 1000))),
                "lost": lost > 0 ? .text("−\(place.format.count(lost))") : .none,
                "link": stage.link.map { .fields(["href": .text(place.href($0))]) } ?? .none,
            ])
        }
        return markup("funnel", ["caption": .optional(funnel.caption), "stages": .list(stages)])
    }
}
