import Model
import PageParts

extension PageWriter {
    private enum Box {
        static let height = 192.0
        static let base = 164.0
        static let top = 12.0
        /// More moments are one line per two pixels and cannot be read; the pages ask for longer intervals.
        static let moments = 500
    }

    /// Lines over time. x is in percent and y in pixels, so that one drawing fits every width and its text keeps its size.
    func lines(_ chart: LineChart) -> Markup {
        let count = min(chart.moments.count, Box.moments)
        let last = count - 1
        let values = chart.lines.flatMap { $0.values.prefix(count) }.compactMap { $0 }.filter(\.isFinite)
        let top = Drawing.top(of: values.max() ?? 0)
        func y(_ value: Double) -> Double { Box.base - (Box.base - Box.top) * Drawing.share(value / top, of: 1) }
        let lines = chart.lines.map { DrawnLine($0, count, y) }
        return markup(
            "lines",
            [
                "caption": .text(chart.caption), "height": .text(Drawing.number(Box.height)),
                "rules": .each([0, top / 2, top]) { value in
                    .fields([
                        "style": .text(value == 0 ? "zero" : "rule"), "y": .text(Drawing.number(y(value))),
                        "textY": .text(Drawing.number(y(value) + 4)), "text": .text(place.format.compact(value)),
                    ])
                },
                "ticks": ticks(chart.moments, count),
                "gaps": gaps(lines, last),
                "lines": .each(lines) { $0.view(last, isLastOpen: chart.isLastOpen) },
                "ends": ends(chart.lines, lines),
                "table": .markup(chartTable(chart, count)),
                "showTable": .text(text(CommonText.showAsTable)),
            ]
        )
    }

    /// At most 7 labels; on phones the first, the middle and the last.
    private func ticks(_ moments: [String], _ count: Int) -> View {
        let last = count - 1
        let step = max(1, (count + 5) / 6)
        let shown = (0..<max(0, count)).filter { $0.isMultiple(of: step) }
        return .each(shown) { index in
            let place = shown.firstIndex(of: index) ?? 0
            return .fields([
                "x": .text(Drawing.percent(index, of: last)), "y": .text(Drawing.number(Box.height - 4)),
                "text": .text(moments[index]), "isWide": .flag(!place.isMultiple(of: 3)),
            ])
        }
    }

    /// A label for each gap that all lines of the present period have in common.
    private func gaps(_ lines: [DrawnLine], _ last: Int) -> View {
        let present = lines.filter { $0.style != .previous }
        var gaps: [ClosedRange<Int>] = []
        for index in 0..<max(0, last + 1) where !present.isEmpty && present.allSatisfy({ $0.points[index] == nil }) {
            if let open = gaps.last, open.upperBound == index - 1 {
                gaps[gaps.count - 1] = open.lowerBound...index
            } else {
                gaps.append(index...index)
            }
        }
        return .each(gaps.prefix(5)) { gap in
            .fields([
                "x": .text(Drawing.percent((gap.lowerBound + gap.upperBound) / 2, of: last)),
                "y": .text(Drawing.number(Box.base - 8)), "text": .text(text(CommonText.noData)),
            ])
        }
    }

    private func ends(_ lines: [LineChart.Line], _ drawn: [DrawnLine]) -> View {
        let places = zip(lines, drawn).compactMap { line, drawn in
            drawn.points.last.flatMap { $0 }.map { (line, $0) }
        }
        let spread = Drawing.spread(places.map(\.1), gap: 16, within: Box.top...Box.base)
        return .each(zip(places, spread)) { place, y in
            let value = place.0.values.prefix(drawn.first?.points.count ?? 0).last.flatMap { $0 }
            return .fields([
                "style": .text(place.0.style.rawValue), "y": .text(Drawing.number(y + 4)),
                "text": .text(place.0.label),
                "value": place.0.style == .previous
                    ? .none : .optional(value.map { self.place.format.compact($0) }),
            ])
        }
    }

    private func chartTable(_ chart: LineChart, _ count: Int) -> Markup {
        var columns = [Table.Column(label: text(CommonText.moment))]
        columns += chart.lines.map { Table.Column(label: $0.label, isNumber: true) }
        let rows = (0..<max(0, count)).map { index in
            var cells = [Table.Cell.text(chart.moments[index])]
            for line in chart.lines {
                let value = index < line.values.count ? line.values[index] : nil
                cells.append(value.map { Table.Cell.text(number($0)) } ?? Table.Cell.none)
            }
            return Table.Row(cells: cells)
        }
        return table(Table(caption: chart.caption, columns: columns, rows: rows))
    }

    /// A count in full; a value with a fraction is rounded to a tenth.
    private func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return ConsoleFormat.unknown }
        return value.rounded() == value ? place.format.count(Int64(value)) : Drawing.number(value)
    }

    func bars(_ chart: BarChart) -> Markup {
        let whole = chart.bars.map(\.value).filter(\.isFinite).max() ?? 0
        return markup(
            "bars",
            [
                "caption": .text(chart.caption),
                "bars": .each(chart.bars) { bar in
                    .fields([
                        "label": .text(bar.label), "text": .text(bar.text), "style": .text(Self.style(bar.style)),
                        "width": .text(
                            Drawing.number(whole > 0 ? Drawing.share(bar.value / whole, of: 1000) : 0)
                        ),
                        "link": bar.link.map { .fields(["href": .text(place.href($0))]) } ?? .none,
                    ])
                },
            ]
        )
    }

    /// A class of the styles: that of a segment, or `v-` and the name of a vendor. Unknown ones have the first colour.
    private static func style(_ style: String) -> String {
        if Table.Segment.Style(rawValue: style) != nil { return style }
        let name = style.lowercased().unicodeScalars.filter { ("a"..."z").contains($0) }
        return "gateway v-\(String(String.UnicodeScalarView(name.prefix(32))))"
    }

    func figure(_ figure: Figure) -> Markup {
        let top = figure.spark.filter(\.isFinite).max() ?? 0
        let shown = figure.spark.suffix(120)
        return markup(
            "figure",
            [
                "value": .text(figure.value), "unit": .optional(figure.unit), "caption": .optional(figure.caption),
                "spark": shown.isEmpty
                    ? .none
                    : .fields([
                        "width": .text("\(shown.count * 6 - 2)"),
                        "bars": .each(shown.enumerated()) { index, value in
                            let height = top > 0 ? Drawing.share(value / top, of: 48) : 0
                            return .fields([
                                "x": .text("\(index * 6)"), "y": .text(Drawing.number(48 - height)),
                                "height": .text(Drawing.number(height)),
                            ])
                        },
                    ]),
            ]
        )
    }
}

/// A line of a chart, in pixels from the top.
private struct DrawnLine {
    var style: LineChart.Line.Style
    /// One for each moment; nil is a gap.
    var points: [Double?]

    init(_ line: LineChart.Line, _ count: Int, _ y: (Double) -> Double) {
        style = line.style
        points = (0..<max(0, count)).map { index in
            guard index < line.values.count, let value = line.values[index], value.isFinite else { return nil }
            return y(value)
        }
    }

    /// The segments between neighbours, dots of points without one, and the hollow last point.
    func view(_ last: Int, isLastOpen: Bool) -> View {
        var segments: [View] = []
        var dots: [View] = []
        for (index, point) in points.enumerated() {
            guard let point else { continue }
            let next = index < last ? points[index + 1] : nil
            let isAlone = next == nil && (index == 0 || points[index - 1] == nil)
            if let next {
                segments.append(
                    .fields([
                        "x1": .text(Drawing.percent(index, of: last)), "y1": .text(Drawing.number(point)),
                        "x2": .text(Drawing.percent(index + 1, of: last)), "y2": .text(Drawing.number(next)),
                    ])
                )
            }
            let isOpen = index == last && isLastOpen && style != .previous
            if isAlone || isOpen {
                dots.append(
                    .fields([
                        "x": .text(Drawing.percent(index, of: last)), "y": .text(Drawing.number(point)),
                        "isOpen": .flag(isOpen),
                    ])
                )
            }
        }
        return .fields(["style": .text(style.rawValue), "segments": .list(segments), "dots": .list(dots)])
    }
}
