/// Values from which a page is written. Texts are plain: the templates escape them.
package struct PageContent: Sendable {
    /// The title of the document and the heading.
    package var title: String
    /// The page's answer in one sentence, before everything else.
    package var sentence: Sentence
    /// Next to the heading.
    package var actions: [Action] = []
    /// A line of filters as links and a search form (GET), under the sentence.
    package var filters: [Filter] = []
    package var blocks: [Block] = []
    /// The exports that the heading links; the server names those that the account may have.
    package var exports: [FileFormat] = []
    /// The parameters with which the address of the page shows the same range later; empty: it does already, or has no range.
    package var permanent: [PageRequest.Parameter] = []
    /// The topics whose events update this page; empty: it is not live.
    package var live: Set<LiveTopic> = []

    package init(
        title: String,
        sentence: Sentence,
        actions: [Action] = [],
        filters: [Filter] = [],
        blocks: [Block] = [],
        exports: [FileFormat] = [],
        permanent: [PageRequest.Parameter] = [],
        live: Set<LiveTopic> = []
    ) {
        self.title = title
        self.sentence = sentence
        self.actions = actions
        self.filters = filters
        self.blocks = blocks
        self.exports = exports
        self.permanent = permanent
        self.live = live
    }
}

package enum LiveTopic: String, Sendable, Hashable, CaseIterable { case funnel, messages, message, queue, events }

/// Words and marks carry the meaning; colour only supports it.
package enum Mark: String, Sendable, Hashable { case ok, warn, bad, idle, info }

package struct Sentence: Sendable, Hashable {
    package var mark: Mark?
    package var text: String
    /// Where the sentence leads.
    package var link: Link?

    package init(mark: Mark? = nil, text: String, link: Link? = nil) {
        self.mark = mark
        self.text = text
        self.link = link
    }
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
package enum Action: Sendable {
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
package enum Filter: Sendable {
    case choice(label: String, parameter: String, options: [Option], selected: String?)
    case text(label: String, parameter: String, value: String?, placeholder: String)

    package struct Option: Sendable, Hashable {
        package var value: String
        package var label: String

        package init(value: String, label: String) {
            self.value = value
            self.label = label
        }
    }
}

/// A card in the grid of twelve columns.
package struct Block: Sendable {
    /// 4, 5, 6, 7, 8 or 12 columns; below 1,280 px every card takes the full width.
    package var width = 12
    package var title: String?
    /// Small words after the title: the source or the age of the figures.
    package var note: String?
    package var tools: [Link] = []
    package var body: [Part]
    /// Small words under the body.
    package var foot: String?

    package init(
        width: Int = 12,
        title: String? = nil,
        note: String? = nil,
        tools: [Link] = [],
        body: [Part],
        foot: String? = nil
    ) {
        self.width = width
        self.title = title
        self.note = note
        self.tools = tools
        self.body = body
        self.foot = foot
    }
}

/// A part that a card may contain.
package enum Part: Sendable {
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
package struct Table: Sendable {
    package struct Column: Sendable {
        package var label: String
        package var isNumber = false
        /// The parameter value of `sort`, if the API sorts by it.
        package var sort: String?

        package init(label: String, isNumber: Bool = false, sort: String? = nil) {
            self.label = label
            self.isNumber = isNumber
            self.sort = sort
        }
    }
    package struct Row: Sendable {
        package var cells: [Cell]
        /// Stable over updates: live pages change the row with this id in place.
        package var id: String?

        package init(cells: [Cell], id: String? = nil) {
            self.cells = cells
            self.id = id
        }
    }
    package enum Cell: Sendable {
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
    package struct Segment: Sendable {
        /// 0 to 1.
        package var share: Double
        package var style: Style

        package init(share: Double, style: Style) {
            self.share = share
            self.style = style
        }
        package enum Style: String, Sendable { case gateway, transport, app, lost, able, track, idle }
    }
    package var caption: String
    package var columns: [Column]
    package var rows: [Row]
    /// The next page by cursor.
    package var next: Link?
    /// Instead of an empty table.
    package var empty: EmptyState?

    package init(caption: String, columns: [Column], rows: [Row], next: Link? = nil, empty: EmptyState? = nil) {
        self.caption = caption
        self.columns = columns
        self.rows = rows
        self.next = next
        self.empty = empty
    }
}

package struct Fact: Sendable {
    package var label: String
    package var value: String
    package var link: Link?
    package var isMono = false

    package init(label: String, value: String, link: Link? = nil, isMono: Bool = false) {
        self.label = label
        self.value = value
        self.link = link
        self.isMono = isMono
    }
}

/// A condition: met, failed or unknown, with its explanation and where to fix it.
package struct Check: Sendable {
    package var mark: Mark
    package var title: String
    package var detail: String
    package var link: Link?

    package init(mark: Mark, title: String, detail: String, link: Link? = nil) {
        self.mark = mark
        self.title = title
        self.detail = detail
        self.link = link
    }
}

/// A line of a timeline.
package struct TimelineMoment: Sendable {
    package var time: String
    /// The time since the moment before: `+162 ms`.
    package var delta: String?
    package var mark: Mark
    package var title: String
    package var detail: String?
    package var source: String

    package init(time: String, delta: String? = nil, mark: Mark, title: String, detail: String? = nil, source: String) {
        self.time = time
        self.delta = delta
        self.mark = mark
        self.title = title
        self.detail = detail
        self.source = source
    }
}

package struct Figure: Sendable {
    package var value: String
    package var unit: String?
    /// A small line under it, oldest first.
    package var spark: [Double]
    package var caption: String

    package init(value: String, unit: String? = nil, spark: [Double], caption: String) {
        self.value = value
        self.unit = unit
        self.spark = spark
        self.caption = caption
    }
}

package struct EmptyState: Sendable {
    /// A sentence about the content that will appear here.
    package var title: String
    /// The one step that fills the page.
    package var step: String
    /// Ready to copy.
    package var code: String?
    package var link: Link?

    package init(title: String, step: String, code: String? = nil, link: Link? = nil) {
        self.title = title
        self.step = step
        self.code = code
        self.link = link
    }
}

package struct DifferenceLine: Sendable {
    package enum Change: String, Sendable { case same, added, removed }
    package var change: Change
    package var text: String
}

/// A form with visible fields, posted to `path` below the tenant.
package struct FormView: Sendable {
    package struct Field: Sendable {
        package enum Kind: Sendable {
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
        package var name: String
        package var label: String
        package var kind: Kind
        /// The value shown; what was typed has precedence (`PageRequest.typed`), except over a hidden field's, which the page decides.
        package var value: String = ""
        package var hint: String?
        package var isRequired = false
        /// The largest size of the text in UTF-8; a script shows how much of it is typed. Unit: bytes.
        package var limit: Int?
        /// The value that browsers may fill in, by its name in the HTML standard; nil: none.
        package var autocomplete: String?
        /// A heading before the field: the step of a form that has several.
        package var section: String?

        package init(
            name: String,
            label: String,
            kind: Kind,
            value: String = "",
            hint: String? = nil,
            isRequired: Bool = false,
            limit: Int? = nil,
            autocomplete: String? = nil,
            section: String? = nil
        ) {
            self.name = name
            self.label = label
            self.kind = kind
            self.value = value
            self.hint = hint
            self.isRequired = isRequired
            self.limit = limit
            self.autocomplete = autocomplete
            self.section = section
        }

        package static func hidden(_ name: String, _ value: String) -> Field {
            Field(name: name, label: "", kind: .hidden, value: value)
        }
    }
    package var path: String
    package var fields: [Field]
    package var submit: String
    package var isDangerous = false
    /// The account whose password the form asks for, unless it has a field for the name: password managers read it.
    package var account: String?
    /// Whether it contains a file: multipart instead of URL-encoded.
    package var isMultipart = false
    /// A second button of the same form with another action: preview, test.
    package var second: (label: String, path: String)?
    /// Name of the script behaviour: the compose page updates its preview by it.
    package var behaviour: String?

    package init(
        path: String,
        fields: [Field],
        submit: String,
        isDangerous: Bool = false,
        account: String? = nil,
        isMultipart: Bool = false,
        second: (label: String, path: String)? = nil,
        behaviour: String? = nil
    ) {
        self.path = path
        self.fields = fields
        self.submit = submit
        self.isDangerous = isDangerous
        self.account = account
        self.isMultipart = isMultipart
        self.second = second
        self.behaviour = behaviour
    }
}

/// A value of a template.
package enum View: Sendable, Hashable {
    case text(String)
    case flag(Bool)
    case list([View])
    case fields([String: View])
    /// Written by a template or a chart of this target, never from a value of a peer.
    case markup(Markup)
    case none
}

/// HTML or SVG that this target wrote.
package struct Markup: Sendable, Hashable {
    package let html: String
    package init(trusted html: String) { self.html = html }
}
