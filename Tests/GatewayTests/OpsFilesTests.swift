import Foundation
import Model
import Testing

@testable import DeliveryEngine
@testable import Observability

/// The metrics that the code emits, that `docs/operations.md` explains and that `ops/` uses are the same set of
/// names.
@Suite struct OpsFilesTests {
    private static func file(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static let emitted = Set(
        MetricName.allCases.map(\.rawValue) + EngineMetrics.Name.allCases.map(\.rawValue) + ["metrics_series_dropped"]
    )

    /// Words that look like the gateway's metrics, found by the prefixes of their names.
    private static func metrics(in text: String) -> Set<String> {
        let prefixes = Set(emitted.compactMap { $0.split(separator: "_").first.map(String.init) })
        let words = text.matches(of: /[a-z]+(?:_[a-z0-9]+)+/).map { family(of: String($0.0)) }
        return Set(words.filter { word in prefixes.contains { word.hasPrefix($0 + "_") } })
    }

    /// The name of a metric without the ending of a histogram's series.
    private static func family(of word: String) -> String {
        let endings = ["_bucket", "_sum", "_count"]
        guard !emitted.contains(word), let ending = endings.first(where: word.hasSuffix) else { return word }
        let name = String(word.dropLast(ending.count))
        return emitted.contains(name) ? name : word
    }

    /// The anchors of GitHub: lower case, letters, digits, spaces become hyphens.
    private static func anchors(in markdown: String) -> Set<String> {
        let headings = markdown.split(separator: "\n").filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                let text = heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                return String(
                    text.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 }
                )
            }
        )
    }

    @Test func theDocumentedMetricsAreThoseTheCodeEmits() throws {
        let rows = try Self.file("docs/operations.md").matches(of: /\n\| `([a-z_]+)` \| (counter|gauge|histogram) \|/)
        let documented = rows.map { String($0.1) }
        #expect(Set(documented) == Self.emitted)
        #expect(documented.count == Set(documented).count)
    }

    @Test(arguments: ["ops/prometheus/alerts.yml", "ops/prometheus/alerts_test.yml", "ops/grafana/push-gateway.json"])
    func everyUsedMetricIsEmitted(_ path: String) throws {
        let used = Self.metrics(in: try Self.file(path))
        #expect(!used.isEmpty)
        #expect(used.subtracting(Self.emitted) == [])
    }

    @Test func theControlDetectsAnUnknownMetric() {
        let used = Self.metrics(in: "rate(delivery_pushes_total[5m]) > delivery_nonsense")
        #expect(used.subtracting(Self.emitted) == ["delivery_nonsense"])
    }

    @Test func everyAlertHasInstructions() throws {
        let text = try Self.file("ops/prometheus/alerts.yml")
        let anchors = Self.anchors(in: try Self.file("docs/operations.md"))
        let alerts = text.components(separatedBy: "- alert: ").dropFirst()
        #expect(alerts.count >= 15)
        for alert in alerts {
            let name = alert.prefix { $0 != "\n" }
            for key in ["expr:", "for:", "severity:", "summary:", "description:"] {
                #expect(alert.contains(key), "\(name) has no \(key)")
            }
            let anchor = alert.firstMatch(of: /runbook: docs\/operations\.md#([a-z0-9-]+)/).map { String($0.1) }
            #expect(anchor.map(anchors.contains) == true, "\(name) leads to no heading: \(anchor ?? "none")")
        }
    }

    /// `scripts/alerts-check` runs the tests of the alerts.
    @Test func everyAlertHasATest() throws {
        let alerts = try Self.file("ops/prometheus/alerts.yml").matches(of: /- alert: (\w+)/).map { String($0.1) }
        let tests = try Self.file("ops/prometheus/alerts_test.yml").components(separatedBy: "exp_labels").dropLast()
        let fired = Set(tests.compactMap { $0.matches(of: /alertname: (\w+)/).last.map { String($0.1) } })
        #expect(!alerts.isEmpty)
        #expect(Set(alerts).subtracting(fired) == [])
    }

    @Test func everyMetricHasAPanel() throws {
        let shown = Self.metrics(in: try Self.file("ops/grafana/push-gateway.json"))
        #expect(Self.emitted.subtracting(shown) == [])
    }

    /// A dashboard must be readable by other tools and must not have its own data source.
    @Test func theDashboardIsJSONWithItsSourceAsAVariable() throws {
        let dashboard = try JSONParser.parse(try Self.file("ops/grafana/push-gateway.json"))
        let variables = dashboard["templating"]?["list"]?.array ?? []
        #expect(variables.contains { $0["type"]?.string == "datasource" })
        let panels = dashboard["panels"]?.array ?? []
        #expect(panels.count > 20)
        for panel in panels where panel["type"]?.string != "row" {
            #expect(panel["datasource"]?["uid"]?.string == "${datasource}", "\(panel["title"]?.string ?? "?")")
            #expect(panel["targets"]?.array?.isEmpty == false)
        }
    }
}
