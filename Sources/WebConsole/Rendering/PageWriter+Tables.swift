import Model
import PageParts

extension PageWriter {
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
                "rows": .markup(rows(table)),
                "none": table.rows.isEmpty ? .text(text(CommonText.noRows)) : .none,
                "next": link(table.next),
                "new": .text(text(CommonText.newRows)),
            ]
        )
    }

    private func rows(_ table: Table) -> Markup {
        if table.rows.isEmpty { return Markup([]) }
        let writer = CellWriter(self, table.columns)
        return Markup(table.rows.map { writer.row($0) })
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
