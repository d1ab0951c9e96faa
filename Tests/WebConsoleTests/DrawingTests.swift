import Foundation
import Model
import Testing

@testable import PageParts
@testable import WebConsole

struct DrawingTests {
    @Test func scalesEndAboveTheLargestValue() {
        for value in [0.1, 1, 3, 7, 10, 99, 100, 101, 120_000, 197_000, 1e12] {
            let top = Drawing.top(of: value)
            #expect(top >= value && top <= value * 2.5, "\(value): \(top)")
        }
        #expect(Drawing.top(of: 197_000) == 200_000)
        #expect(Drawing.top(of: 0) == 1)
        #expect(Drawing.top(of: .infinity) == 1)
        #expect(Drawing.top(of: .greatestFiniteMagnitude) > 0)
    }

    @Test func coordinatesAreShort() {
        #expect(Drawing.number(12) == "12")
        #expect(Drawing.number(12.34) == "12.3")
        #expect(Drawing.number(-0.5) == "-0.5")
        #expect(Drawing.number(.nan) == "0")
        #expect(Drawing.percent(1, of: 6) == "16.66%")
        #expect(Drawing.percent(6, of: 6) == "100%")
        #expect(Drawing.percent(0, of: 0) == "50%")
    }

    @Test func labelsAtLineEndsDoNotOverlap() {
        let spread = Drawing.spread([100, 101, 102], gap: 16, within: 12...164)
        #expect(spread == [100, 116, 132])
        let low = Drawing.spread([164, 163, 20], gap: 16, within: 12...164)
        #expect(low == [164, 148, 20])
    }

    @Test func missingDataIsAGap() throws {
        let renderer = try Renderer.bundled(isStrict: true)
        let writer = PageWriter(renderer, WritingPlace(Sample.request(), path: ""))
        let chart = LineChart(
            caption: "c",
            moments: ["a", "b", "c", "d", "e"],
            lines: [.init(label: "l", style: .first, values: [1, 2, nil, nil, 5])],
            isLastOpen: true
        )
        let html = writer.lines(chart).html
        #expect(html.contains("no data"))
        // One segment before the gap, none over it; the last moment is hollow.
        #expect(html.components(separatedBy: "<line x1").count == 2)
        #expect(html.contains("class=\"now\" cx=\"100%\""))
        // The table has a dash where the chart has a gap.
        #expect(html.components(separatedBy: "<span class=\"muted\">–</span>").count == 3)
    }

    @Test func chartsOfAnySizeAreDrawn() throws {
        let writer = PageWriter(try Renderer.bundled(isStrict: true), WritingPlace(Sample.request(), path: ""))
        for count in [0, 1, 2, 7, 600] {
            let chart = LineChart(
                caption: "c",
                moments: (0..<count).map { "\($0)" },
                lines: [
                    .init(label: "l", style: .first, values: (0..<count).map { Double($0) }),
                    .init(label: "m", style: .previous, values: []),
                ]
            )
            let html = writer.lines(chart).html
            #expect(!html.contains(Renderer.faultMark))
            try Wellformed.check(html)
        }
        try Wellformed.check(writer.bars(BarChart(caption: "c", bars: [])).html)
        try Wellformed.check(writer.funnel(.init(caption: "", stages: [])).html)
        let extreme = FunnelChart.Stage(name: "", value: .min, able: .max, source: "", note: "", style: .app)
        try Wellformed.check(writer.funnel(.init(caption: "", stages: [extreme, extreme])).html)
    }
}
