import Model
import PageParts

/// The nodes, and the tenant's queue by lane.
struct NodesPage: ConsolePage {
    let path = "nodes"
    let permission = Permission.platform
    var menu: MenuEntry? { MenuEntry(.administration, NodesText.title, .nodes) }
    let sharing = UpdateSharing.page

    /// A node reports every few seconds; after a minute without a report it is not trusted to run.
    private static let silence = Duration.seconds(60)

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("nodes"), let nodes = export(request) else { return [] }
        return [nodes, APICall("queue", .get, "queue")]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("nodes", .get, "nodes", query: OperationsParts.page(request))
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("nodes")
        let nodes = body["nodes"]?.array ?? []
        let queue = answers.body("queue")
        let lanes = queue["lanes"]?.array ?? []
        let held = queue["heldBy"]?.array ?? []
        let next = OperationsParts.next(body["next"], request, path: "nodes")
        var blocks: [Block] = []
        if !held.isEmpty {
            blocks.append(Block(title: words(NodesText.held), body: [.table(Self.heldTable(held, words))]))
        }
        let isKnown = answers["queue"]?.isSuccess ?? false
        blocks.append(
            Block(
                width: 7,
                title: words(NodesText.queue),
                note: isKnown ? words.time(queue["at"]) : nil,
                body: isKnown
                    ? [.table(Self.laneTable(lanes, words))]
                    : [.callout(.warn, words(OperationsText.unavailable), link: nil)],
                foot: words(NodesText.sliceNote)
            )
        )
        let table = Self.nodeTable(nodes, next: next, words)
        blocks.append(
            Block(
                width: 5,
                title: words(NodesText.nodes),
                note: words(OperationsText.source),
                body: [.table(table)]
            )
        )
        return PageContent(
            title: words(NodesText.title),
            sentence: Self.sentence(nodes, lanes, held, words),
            blocks: blocks,
            live: [.queue]
        )
    }

    /// The rule: a refused credential, a silent node, a paused lane, work that is due, otherwise calm.
    private static func sentence(_ nodes: [JSON], _ lanes: [JSON], _ held: [JSON], _ words: Wording) -> Sentence {
        if let first = held.first {
            let id = first["credential"]?.string ?? Wording.unknown
            let text = NodesText.heldBy(id, words.count(first["slices"]))
            return Sentence(mark: .bad, text: words(text), link: Link(id, Link.path("credentials", id)))
        }
        let running = nodes.filter { !isSilent($0, words) }
        if running.isEmpty { return Sentence(mark: .bad, text: words(NodesText.noNodes)) }
        if let silent = nodes.first(where: { isSilent($0, words) }) {
            let ago = words.moment(silent["seenAt"]).map { words.ago($0) } ?? Wording.unknown
            return Sentence(mark: .warn, text: words(NodesText.silent(words.text(silent["node"]), ago)))
        }
        if let paused = lanes.first(where: { $0["paused"]?.bool == true }) {
            let name = words(NodesText.laneName(paused["lane"]?.string ?? Wording.unknown))
            return Sentence(mark: .warn, text: words(NodesText.lanePaused(name, open(paused, words))))
        }
        let count = words.count(Int64(running.count))
        let due = lanes.reduce(Int64(0)) { sum, lane in
            let (total, overflow) = sum.addingReportingOverflow(lane["due"]?.int ?? 0)
            return overflow ? sum : total
        }
        let oldest = lanes.compactMap { words.moment($0["oldestDueAt"]) }.min()
        if due > 0, let oldest {
            let age = words.duration(max(.zero, words.now - oldest))
            return Sentence(mark: .info, text: words(NodesText.busy(count, words.count(due), age)))
        }
        return Sentence(mark: .ok, text: words(NodesText.calm(count)))
    }

    private static func isSilent(_ node: JSON, _ words: Wording) -> Bool {
        guard let seen = words.moment(node["seenAt"]) else { return true }
        return words.now - seen > silence
    }

    private static func open(_ lane: JSON, _ words: Wording) -> String {
        words.count(lane["open"]) + (lane["more"]?.bool == true ? "+" : "")
    }

    private static func nodeTable(_ nodes: [JSON], next: Link?, _ words: Wording) -> Table {
        Table(
            caption: words(NodesText.nodes),
            columns: [
                .init(label: words(NodesText.node)), .init(label: words(OperationsText.state)),
                .init(label: words(NodesText.started)), .init(label: words(NodesText.seen)),
            ],
            rows: nodes.map { node in
                let seen = words.moment(node["seenAt"]).map { words.ago($0) } ?? Wording.unknown
                return Table.Row(
                    cells: [
                        .mono(words.text(node["node"])),
                        isSilent(node, words)
                            ? .tag(.bad, words(NodesText.late)) : .tag(.ok, words(NodesText.alive)),
                        .text(words.time(node["startedAt"])), .text(seen),
                    ],
                    id: node["node"]?.string
                )
            },
            next: next,
            empty: EmptyState(title: words(NodesText.noNodes), step: words(NodesText.noNodesStep))
        )
    }

    private static func laneTable(_ lanes: [JSON], _ words: Wording) -> Table {
        Table(
            caption: words(NodesText.queue),
            columns: [
                .init(label: words(NodesText.lane)), .init(label: words(OperationsText.state)),
                .init(label: words(NodesText.due), isNumber: true),
                .init(label: words(NodesText.open), isNumber: true), .init(label: words(NodesText.oldest)),
            ],
            rows: lanes.map { lane in
                let name = lane["lane"]?.string ?? Wording.unknown
                let oldest = words.moment(lane["oldestDueAt"]).map { words.duration(max(.zero, words.now - $0)) }
                let state: Table.Cell =
                    if lane["paused"]?.bool == true {
                        .tag(.warn, words(NodesText.paused))
                    } else if lane["open"]?.int ?? 0 > 0 {
                        .tag(.info, words(NodesText.running))
                    } else {
                        .tag(.ok, words(NodesText.idle))
                    }
                return Table.Row(
                    cells: [
                        .strong(words(NodesText.laneName(name))), state, .text(words.count(lane["due"])),
                        .text(open(lane, words)), .text(oldest ?? Wording.unknown),
                    ],
                    id: name
                )
            },
            empty: EmptyState(title: words(NodesText.noLanes), step: words(NodesText.noLanesStep))
        )
    }

    private static func heldTable(_ held: [JSON], _ words: Wording) -> Table {
        Table(
            caption: words(NodesText.held),
            columns: [
                .init(label: words(OperationsText.credential)), .init(label: words(NodesText.slices), isNumber: true),
            ],
            rows: held.map { row in
                let id = row["credential"]?.string ?? ""
                return Table.Row(
                    cells: [.link(Link(id, Link.path("credentials", id))), .text(words.count(row["slices"]))],
                    id: id
                )
            }
        )
    }
}
