import Model
import PageParts

/// Rules of an app in words.
struct RouteWords {
    private let words: Wording

    init(_ words: Wording) { self.words = words }

    /// The criteria of a rule: every member that is neither its action nor its path.
    func criteria(_ rule: JSON) -> String {
        let others: Set<String> = ["action", "upstream", "paths"]
        let texts = (rule.object?.pairs ?? []).filter { !others.contains($0.key) }.map { name, value in
            "\(words(RoutesText.criterion(name))): \(self.value(value, of: name))"
        }
        return texts.isEmpty ? words(RoutesText.everything) : texts.joined(separator: " · ")
    }

    private func value(_ value: JSON, of name: String) -> String {
        switch (name, value) {
        case ("kinds", .array(let kinds)):
            return kinds.compactMap(\.string).map { words(RoutesText.kindName($0)) }.joined(separator: ", ")
        case ("vendor", .string(let vendor)): return VendorName.of(vendor, words.language)
        case ("rollout", .object(let rollout)):
            let percent = rollout["percent"]?.lenientString ?? Wording.unknown
            return "\(percent)% (\(words.text(rollout["by"])), \(words.text(rollout["salt"])))"
        case (_, .array(let texts)) where texts.allSatisfy({ $0.lenientString != nil }):
            return texts.compactMap(\.lenientString).joined(separator: ", ")
        case (_, .string(let text)): return text
        default: return JSONWriter.text(value)
        }
    }

    func action(_ rule: JSON) -> String {
        words(RoutesText.action(rule["action"]?.string ?? Wording.unknown, rule["upstream"]?.string))
    }

    func paths(_ json: JSON?) -> String {
        let paths = (json?.array ?? []).compactMap(\.string).map { words(RoutesText.path($0)) }
        return paths.isEmpty ? Wording.unknown : paths.joined(separator: " → ")
    }

    /// The rules of one list, with the part of the version that each comes from.
    func table(_ name: String, _ version: JSON) -> Part {
        let isCalls = name == "calls"
        let rules = version["rules"]?[name]?.array ?? []
        guard !rules.isEmpty else {
            return .text(words(isCalls ? RoutesText.noCallRules : RoutesText.noDeliveryRules))
        }
        let overlaid = version["overlay"]?[name]?.array?.count ?? 0
        return .table(
            Table(
                caption: words(isCalls ? RoutesText.callRules : RoutesText.deliveryRules),
                columns: [
                    .init(label: words(RoutesText.rule)), .init(label: words(RoutesText.criteria)),
                    .init(label: words(isCalls ? RoutesText.action : RoutesText.paths)),
                    .init(label: words(RoutesText.place)),
                ],
                rows: rules.enumerated().map { index, rule in
                    let place: Table.Cell =
                        index < overlaid
                        ? .tag(.info, words(RoutesText.overlay)) : .tag(.idle, words(RoutesText.base))
                    return Table.Row(
                        cells: [
                            .strong("\(index)"), .text(criteria(rule)),
                            .text(isCalls ? action(rule) : paths(rule["paths"])), place,
                        ],
                        id: "\(name)-\(index)"
                    )
                }
            )
        )
    }

    /// The decisions of `testRoutes`.
    func decisions(_ answer: JSON) -> [Part] {
        var parts: [Part] = (answer["faults"]?.array ?? []).map { fault in
            .callout(.bad, "\(words.text(fault["rule"])): \(words.text(fault["problem"]))", link: nil)
        }
        if let part = answer["unsupported"]?.string {
            parts.append(.callout(.warn, "\(words(RoutesText.unsupported)): \(part)", link: nil))
        }
        let call = answer["call"]
        parts.append(
            .facts([
                Fact(label: words(RoutesText.decisionCall), value: call.map(action) ?? Wording.unknown),
                Fact(label: words(RoutesText.rule), value: rule(call?["rule"], "calls")),
            ])
        )
        let deliveries = answer["deliveries"]?.array ?? []
        if !deliveries.isEmpty { parts.append(.table(targets(deliveries))) }
        return parts
    }

    private func targets(_ deliveries: [JSON]) -> Table {
        Table(
            caption: words(RoutesText.decisionTarget),
            columns: [
                .init(label: words(RoutesText.decisionTarget)), .init(label: words(RoutesText.paths)),
                .init(label: words(RoutesText.rule)), .init(label: words(RoutesText.bucket), isNumber: true),
            ],
            rows: deliveries.map { delivery in
                let bucket = delivery["bucket"]?.int.map { words.share(Double($0) / 4_294_967_296) }
                return Table.Row(cells: [
                    .strong(words.text(delivery["target"])), .text(paths(delivery["paths"])),
                    .text(rule(delivery["rule"], "deliveries")), .text(bucket ?? Wording.unknown),
                ])
            }
        )
    }

    private func rule(_ place: JSON?, _ list: String) -> String {
        place?.int.map { "\(list)[\($0)]" } ?? words(RoutesText.noRule)
    }
}
