/// Values from which a page is written. Texts are plain: the templates escape them.
package struct PageContent: Sendable {
    /// The title of the document and the heading.
    var title: String
    /// The page's answer in one sentence, before everything else.
    var sentence: Sentence
    /// Next to the heading.
    var actions: [Action] = []
    /// A line of filters as links and a search form (GET), under the sentence.
    var filters: [Filter] = []
    var blocks: [Block] = []
    /// The exports that the heading links; the server names those that the account may have.
    package var exports: [FileFormat] = []
    /// The parameters with which the address of the page shows the same range later; empty: it does already, or has no range.
    var permanent: [PageRequest.Parameter] = []
    /// The topics whose events update this page; empty: it is not live.
    var live: Set<LiveTopic> = []
}

package enum LiveTopic: String, Sendable, Hashable, CaseIterable { case funnel, messages, message, queue, events }

/// Words and marks carry the meaning; colour only supports it.
enum Mark: String, Sendable, Hashable { case ok, warn, bad, idle, info }

struct Sentence: Sendable, Hashable {
    var mark: Mark?
    var text: String
    /// Where the sentence leads.
    var link: Link?
}

/// An address below the tenant, and its words.
package struct Link: Sendable, Hashable {
    package var label: String
    /// The path below `/t/{tenant}/`, built with `Link.path`.
    package var path: String
    package var query: [PageRequest.Parameter]

    package init(_ label: String, _ path: String, _ query: [PageRequest.Parameter] = []) {
        self.label = label
        self.path = path
        self.query = query
    }
}

/// A button: a link, or a form without visible fields.
enum Action: Sendable {
    case link(Link, isMain: Bool = false)
    /// Posts to `path` with hidden fields; `confirm` is a page's own step, never a browser dialog.
    case post(
        label: String,
        path: String,
        fields: [PageRequest.Parameter] = [],
        isMain: Bool = false,
        isDangerous: Bool = false
    )
}

/// One filter: a choice by links, or a text that a GET form sends.
enum Filter: Sendable {
    case choice(label: String, parameter: String, options: [Option], selected: String?)
    case text(label: String, parameter: String, value: String?, placeholder: String)

    struct Option: Sendable, Hashable {
        var value: String
        var label: String
    }
}

/// A card in the grid of twelve columns.
struct Block: Sendable {
    /// 4, 5, 6, 7, 8 or 12 columns; below 1,280 px every card takes the full width.
    var width = 12
    var title: String?
    /// Small words after the title: the source or the age of the figures.
    var note: String?
    var tools: [Link] = []
    var body: [Part]
    /// Small words under the body.
    var foot: String?
}

/// A part that a card may contain.
enum Part: Sendable {
    case table(Table)
    case funnel(FunnelChart)
    case lines(LineChart)
    case bars(BarChart)
    case facts([Fact])
    case checks([Check])
    case timeline([TimelineMoment])
    case figure(Figure)
    case form(FormView)
    case text(String)
    /// A text of the native API, which is English, on a page in any language.
    case quote(String)
    /// Preformatted, wrapped: a payload, a snippet to copy, YAML.
    case code(String, label: String)
    case empty(EmptyState)
    case callout(Mark, String, link: Link?)
    case actions([Action])
    /// Two columns of lines, for the difference of two versions.
    case difference([DifferenceLine])
    /// A template of the page itself, checked against its view.
    case template(String, View)
}

/// A table with a first column of links; below 640 px each row becomes a card.
struct Table: Sendable {
    struct Column: Sendable {
        var label: String
        var isNumber = false
        /// The parameter value of `sort`, if the API sorts by it.
        var sort: String?
    }
    struct Row: Sendable {
        var cells: [Cell]
        /// Stable over updates: live pages change the row with this id in place.
        var id: String?
    }
    enum Cell: Sendable {
        case text(String)
        case strong(String)
        case mono(String)
        case link(Link)
        case tag(Mark, String)
        /// Shares of a bar of 120 px, with words for those who do not see it.
        case bar([Segment], words: String)
        case actions([Action])
        case none
    }
    struct Segment: Sendable {
        /// 0 to 1.
        var share: Double
        var style: Style
        enum Style: String, Sendable { case gateway, transport, app, lost, able, track, idle }
    }
    var caption: String
    var columns: [Column]
    var rows: [Row]
    /// The next page by cursor.
    var next: Link?
    /// Instead of an empty table.
    var empty: EmptyState?
}

/// Labelled bars on one scale. Each stage has two lines: figure with bar, then source with losses or denominator.
struct FunnelChart: Sendable {
    struct Stage: Sendable {
        var name: String
        var value: Int
        /// Of what `rate` and the soft segment are a share: those able to report.
        var able: Int?
        var rate: String?
        /// Gateway, APNs, App.
        var source: String
        var note: String
        var style: Table.Segment.Style
        var link: Link?
    }
    var caption: String
    var stages: [Stage]
}

/// Lines over time, drawn on the server; counts start at zero, missing data is a gap.
struct LineChart: Sendable {
    struct Line: Sendable {
        enum Style: String, Sendable { case first, second, previous }
        var label: String
        var style: Style
        /// One value for each moment; nil is a gap.
        var values: [Double?]
    }
    /// The finding in words.
    var caption: String
    /// The label of each moment, as the table shows it.
    var moments: [String]
    var lines: [Line]
    /// Whether the last moment is not over.
    var isLastOpen = false
}

/// Horizontal bars with a label and a value.
struct BarChart: Sendable {
    struct Bar: Sendable {
        var label: String
        var value: Double
        var text: String
        var style: String
        var link: Link?
    }
    var caption: String
    var bars: [Bar]
}

struct Fact: Sendable {
    var label: String
    var value: String
    var link: Link?
    var isMono = false
}

/// A condition: met, failed or unknown, with its explanation and where to fix it.
struct Check: Sendable {
    var mark: Mark
    var title: String
    var detail: String
    var link: Link?
}

/// A line of a timeline.
struct TimelineMoment: Sendable {
    var time: String
    /// The time since the moment before: `+162 ms`.
    var delta: String?
    var mark: Mark
    var title: String
    var detail: String?
    var source: String
}

struct Figure: Sendable {
    var value: String
    var unit: String?
    /// A small line under it, oldest first.
    var spark: [Double]
    var caption: String
}

struct EmptyState: Sendable {
    /// A sentence about the content that will appear here.
    var title: String
    /// The one step that fills the page.
    var step: String
    /// Ready to copy.
    var code: String?
    var link: Link?
}

struct DifferenceLine: Sendable {
    enum Change: String, Sendable { case same, added, removed }
    var change: Change
    var text: String
}

/// A form with visible fields, posted to `path` below the tenant.
struct FormView: Sendable {
    struct Field: Sendable {
        enum Kind: Sendable {
            case text(placeholder: String = "")
            case password
            case number
            case area(rows: Int)
            case select([Filter.Option])
            case radio([Filter.Option])
            case checkbox
            case dateTime
            case file(accept: String)
            case hidden
        }
        var name: String
        var label: String
        var kind: Kind
        /// The value shown; what was typed has precedence (`PageRequest.typed`), except over a hidden field's, which the page decides.
        var value: String = ""
        var hint: String?
        var isRequired = false
        /// The largest size of the text in UTF-8; a script shows how much of it is typed. Unit: bytes.
        var limit: Int?
        /// The value that browsers may fill in, by its name in the HTML standard; nil: none.
        var autocomplete: String?
        /// A heading before the field: the step of a form that has several.
        var section: String?
    }
    var path: String
    var fields: [Field]
    var submit: String
    var isDangerous = false
    /// The account whose password the form asks for, unless it has a field for the name: password managers read it.
    var account: String?
    /// Whether it contains a file: multipart instead of URL-encoded.
    var isMultipart = false
    /// A second button of the same form with another action: preview, test.
    var second: (label: String, path: String)?
    /// Name of the script behaviour: the compose page updates its preview by it.
    var behaviour: String?
}

/// A value of a template.
enum View: Sendable, Hashable {
    case text(String)
    case flag(Bool)
    case list([View])
    case fields([String: View])
    /// Written by a template or a chart of this target, never from a value of a peer.
    case markup(Markup)
    case none
}

/// HTML or SVG that this target wrote.
struct Markup: Sendable, Hashable {
    let html: String
    init(trusted html: String) { self.html = html }
}
