/// Labelled bars on one scale. Each stage has two lines: figure with bar, then source with losses or denominator.
package struct FunnelChart: Sendable {
    package struct Stage: Sendable {
        package var name: String
        package var value: Int
        /// Of what `rate` and the soft segment are a share: those able to report.
        package var able: Int?
        package var rate: String?
        /// Gateway, APNs, App.
        package var source: String
        package var note: String
        package var style: Table.Segment.Style
        package var link: Link?

        package init(
            name: String,
            value: Int,
            able: Int? = nil,
            rate: String? = nil,
            source: String,
            note: String,
            style: Table.Segment.Style,
            link: Link? = nil
        ) {
            self.name = name
            self.value = value
            self.able = able
            self.rate = rate
            self.source = source
            self.note = note
            self.style = style
            self.link = link
        }
    }
    package var caption: String
    package var stages: [Stage]

    package init(caption: String, stages: [Stage]) {
        self.caption = caption
        self.stages = stages
    }
}

/// Lines over time, drawn on the server; counts start at zero, missing data is a gap.
package struct LineChart: Sendable {
    package struct Line: Sendable {
        package enum Style: String, Sendable { case first, second, previous }
        package var label: String
        package var style: Style
        /// One value for each moment; nil is a gap.
        package var values: [Double?]

        package init(label: String, style: Style, values: [Double?]) {
            self.label = label
            self.style = style
            self.values = values
        }
    }
    /// The finding in words.
    package var caption: String
    /// The label of each moment, as the table shows it.
    package var moments: [String]
    package var lines: [Line]
    /// Whether the last moment is not over.
    package var isLastOpen = false

    package init(caption: String, moments: [String], lines: [Line], isLastOpen: Bool = false) {
        self.caption = caption
        self.moments = moments
        self.lines = lines
        self.isLastOpen = isLastOpen
    }
}

/// Horizontal bars with a label and a value.
package struct BarChart: Sendable {
    package struct Bar: Sendable {
        package var label: String
        package var value: Double
        package var text: String
        package var style: String
        package var link: Link?

        package init(label: String, value: Double, text: String, style: String, link: Link? = nil) {
            self.label = label
            self.value = value
            self.text = text
            self.style = style
            self.link = link
        }
    }
    package var caption: String
    package var bars: [Bar]

    package init(caption: String, bars: [Bar]) {
        self.caption = caption
        self.bars = bars
    }
}
