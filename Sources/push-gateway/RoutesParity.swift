import ArgumentParser
import CommandSupport
import Model

extension RoutesCommand {
    /// `routes parity`: how well the gateway agrees with the upstreams of an app.
    struct Parity: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show how well the gateway agrees with the app's upstreams, by the calls that it observes.",
            discussion: """
                One line for each metric: samples, differences and the share that agrees; then the newest differences, with the names of fields. \
                Then the last comparison of an export with the devices, and the receipts of both sides' pushes. \
                Answers and keys are masked. --json shows them too. See docs/routing.md.
                """
        )
        @Option(help: "The beginning (RFC 3339); its hour is counted as a whole. Default: 24 hours ago.")
        var since: String?
        @OptionGroup var place: Place

        func run() async throws {
            let path = HTTPCaller.path("/v1/apps/\(HTTPCaller.encode(place.app))/parity", [("since", since)])
            place.api.show(try await place.api.call("routes parity", "GET", path), Self.text)
        }

        static func text(_ answer: JSON) -> String {
            let metrics = answer["metrics"]?.array ?? []
            let sides = devices(answer["devices"]?.array ?? []) + receipts(answer["receipts"]?.array ?? [])
            guard !metrics.isEmpty else {
                let none = "no observed calls since \(answer["since"]?.string ?? "?")"
                return ([none] + sides).joined(separator: "\n")
            }
            let rows = metrics.map { metric in
                [
                    metric["metric"]?.string ?? "?", metric["samples"]?.int.map { "\($0)" } ?? "?",
                    metric["differences"]?.int.map { "\($0)" } ?? "?", share(metric["agreement"]?.double),
                ]
            }
            let table = Console.table(["metric", "samples", "differences", "agrees"], rows)
            let lines = (answer["samples"]?.array ?? []).map(difference)
            return ([table] + lines + sides).joined(separator: "\n")
        }

        /// The last comparison of each dialect, with some of the devices that differ.
        private static func devices(_ comparisons: [JSON]) -> [String] {
            if comparisons.isEmpty { return ["devices  not compared; see push-gateway devices import --compare"] }
            return comparisons.flatMap { comparison -> [String] in
                let vendor = comparison["vendor"]?.string ?? "?"
                let share = comparison["difference"]?.double.map(Devices.Import.percent) ?? "?"
                let compared = comparison["compared"]?.int.map { "\($0)" } ?? "?"
                let minutes = (comparison["ageSeconds"]?.int ?? 0) / 60
                let age = minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h"
                let use = comparison["usable"] == true ? "" : "; no data for gates, because it is older than 24 h"
                let at = comparison["at"]?.string ?? "?"
                let line = "devices  \(vendor)  \(share) of \(compared) differ  \(at) (\(age) ago\(use))"
                return [line]
                    + (comparison["samples"]?.array ?? []).map { sample in
                        "\(at)  devices  \(vendor) \(sample["key"]?.string ?? "?")  \(sample["difference"]?.string ?? "?")"
                    }
            }
        }

        private static func receipts(_ dialects: [JSON]) -> [String] {
            if dialects.isEmpty { return ["receipts  no dialect with pushes of both sides"] }
            return dialects.map { found in
                func count(_ name: String) -> String { found[name]?.int.map { "\($0)" } ?? "?" }
                let ratio = found["ratio"]?.double.map(Devices.Import.percent) ?? "no receipts of the vendor's pushes"
                let ours = "gateway \(count("received")) of \(count("accepted"))"
                let theirs = "vendor \(count("vendorReceived")) of \(count("vendorAccepted"))"
                return "receipts  \(found["vendor"]?.string ?? "?")  \(ratio)  \(ours), \(theirs) pushes received"
            }
        }

        private static func difference(_ sample: JSON) -> String {
            let facts = sample["facts"]
            let fields = (facts?["fields"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            let reason = [facts?["reason"]?.string ?? facts?["lost"]?.string, fields.isEmpty ? nil : fields]
                .compactMap(\.self).joined(separator: ": ")
            let call = facts?["call"]?.string ?? "?"
            let metric = sample["metric"]?.string ?? "?"
            return "\(facts?["at"]?.string ?? "?")  \(metric)  \(sample["vendor"]?.string ?? "?") \(call)  \(reason)"
        }

        /// A share in per cent, with two decimals that are rounded down: 99.999 % is not agreement.
        private static func share(_ value: Double?) -> String {
            guard let value, value.isFinite else { return "?" }
            let parts = Int((min(max(value, 0), 1) * 10_000).rounded(.down))
            let (whole, rest) = parts.quotientAndRemainder(dividingBy: 100)
            return "\(whole).\(rest < 10 ? "0" : "")\(rest) %"
        }
    }
}
