import CommandSupport
import Foundation
import NIOHTTP1

/// The times that a page of the console states in its header `Server-Timing`.
struct ServerTiming: Sendable, Equatable {
    /// Unit: milliseconds. The time in which API calls ran, and that of the server.
    var calls: Double
    var page: Double

    init(calls: Double, page: Double) {
        self.calls = calls
        self.page = page
    }

    /// Reads the header; nil when it lacks one of the times.
    init?(_ header: String) {
        var times: [Substring: Double] = [:]
        for metric in header.split(separator: ",") {
            let parts = metric.split(separator: ";").map { $0.drop { $0 == " " } }
            guard let name = parts.first, let time = parts.dropFirst().first(where: { $0.hasPrefix("dur=") }) else {
                continue
            }
            times[name] = Double(time.dropFirst("dur=".count))
        }
        guard let calls = times["calls"], let page = times["page"] else { return nil }
        self.init(calls: calls, page: page)
    }
}

/// The sizes of a page as transferred, in bytes.
struct PageSizes: Sendable, Equatable {
    /// With the files that it loads.
    var first: Int
    /// Without them: a browser keeps them.
    var later: Int
}

/// The findings about one page. The times are the p95 of many requests.
struct ConsoleSample: Sendable {
    var name: String
    /// With a tenth of the rows, and with all.
    var tenth: ServerTiming
    var all: ServerTiming
    var sizes: PageSizes

    /// 5 ms: shorter times differ by the noise of the machine.
    private static let noise = 5.0

    var ratio: Double { max(all.page, Self.noise) / max(tenth.page, Self.noise) }
    /// The time of the page relative to that of its calls.
    var callRatio: Double { max(all.page, Self.noise) / max(all.calls, Self.noise) }
}

/// The limits of `bench console` for each page.
struct PageBounds: Sendable {
    /// Unit: milliseconds.
    var time: Double
    var ratio: Double
    var callRatio: Double
    /// Unit: kB of 1,000 bytes.
    var firstView: Double
    var laterView: Double

    /// The values above their limits, as sentences.
    func excesses(_ sample: ConsoleSample) -> [String] {
        func most(_ what: String, _ value: Double, _ limit: Double, _ format: String) -> String? {
            guard value > limit else { return nil }
            return "\(sample.name): \(what) is " + String(format: "\(format), more than \(format)", value, limit)
        }
        return [
            most("the p95", sample.all.page, time, "%.0f ms"),
            most("the p95 relative to that with a tenth", sample.ratio, ratio, "%.2f"),
            most("the p95 relative to that of its API calls", sample.callRatio, callRatio, "%.2f"),
            most("the first view", Double(sample.sizes.first) / 1000, firstView, "%.1f kB"),
            most("a later view", Double(sample.sizes.later) / 1000, laterView, "%.1f kB"),
        ].compactMap(\.self)
    }
}

/// Requests pages, and reads their times and sizes.
struct ConsoleRun {
    let browser: BenchBrowser
    /// The number of requests of each page.
    let count: Int

    /// 5 rounds that are not measured: plans are prepared, and the rows are in memory.
    private static let warmUps = 5

    /// The p95 of each page by its name, and sentences about pages that cannot be measured.
    ///
    /// The pages are requested in turn: other work on the machine, for a second, then delays few requests of each page, and not a twentieth of those of one page.
    ///
    /// - Throws: the client's error when no answer arrives.
    func times(_ places: [ConsolePlace]) async throws -> (times: [String: ServerTiming], faults: [String]) {
        var found: [String: [ServerTiming]] = [:]
        var faults: [String] = []
        // A page that could not be measured once is not requested again.
        var left = places
        var bar = ProgressBar()
        let rounds = Self.warmUps + count
        for round in 0..<rounds {
            bar.show(done: round, of: rounds, rows: round * places.count)
            var answered: [ConsolePlace] = []
            for place in left {
                do throws(PageFault) {
                    let timing = try await time(place)
                    if round >= Self.warmUps { found[place.name, default: []].append(timing) }
                    answered.append(place)
                } catch {
                    faults.append(error.text)
                }
            }
            left = answered
        }
        bar.show(done: rounds, of: rounds, rows: rounds * places.count, isLast: true)
        var times: [String: ServerTiming] = [:]
        for place in left {
            let all = found[place.name] ?? []
            times[place.name] = ServerTiming(calls: Self.p95(all.map(\.calls)), page: Self.p95(all.map(\.page)))
        }
        return (times, faults)
    }

    /// A page that was not answered as expected.
    private struct PageFault: Error {
        var text: String
    }

    private func time(_ place: ConsolePlace) async throws(PageFault) -> ServerTiming {
        let answer: BenchBrowser.Answer
        do {
            answer = try await browser.get(place.path)
        } catch {
            throw PageFault(text: "\(place.name): \(error)")
        }
        guard answer.status == 200 else { throw PageFault(text: "\(place.path) answered \(answer.status)") }
        guard let timing = answer.headers.first(name: "server-timing").flatMap({ ServerTiming($0) }) else {
            throw PageFault(text: "\(place.path) states no times")
        }
        return timing
    }

    /// 0 for an empty list.
    static func p95(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[min(values.count - 1, Int(Double(values.count) * 0.95))]
    }

    // MARK: Sizes

    /// The sizes of each page by its name.
    ///
    /// - Throws: `StageFailure` when a file is missing.
    func sizes(_ places: [ConsolePlace]) async throws -> [String: PageSizes] {
        var files: [String: Int] = [:]
        var sizes: [String: PageSizes] = [:]
        for place in places {
            let later = try await browser.get(place.path).transferredBytes
            var first = later
            for path in Self.files(in: try await browser.get(place.path, isCompressed: false).text) {
                if files[path] == nil {
                    let answer = try await browser.get(path)
                    guard answer.status == 200 else { throw StageFailure("\(path) answered \(answer.status)") }
                    files[path] = answer.transferredBytes
                }
                first += files[path] ?? 0
            }
            sizes[place.name] = PageSizes(first: first, later: later)
        }
        return sizes
    }

    /// The files that a page loads: styles, modules and the icon. The modules load no others, and the styles neither.
    static func files(in html: String) -> Set<String> {
        Set(html.matches(of: /(?:href|src)="(\/assets\/[^"#?]+)/).map { String($0.1) })
    }

    // MARK: Open pages

    /// The addresses of the streams of those pages that update themselves.
    ///
    /// - Throws: the client's error when no answer arrives.
    func streams(_ places: [ConsolePlace]) async throws -> [String] {
        var found: [String] = []
        for place in places {
            let answer = try await browser.get(place.path, isCompressed: false)
            if answer.status == 200, let stream = Self.stream(in: answer.text) { found.append(stream) }
        }
        return found
    }

    /// The address of the stream of a page; nil: it does not update itself.
    static func stream(in html: String) -> String? {
        html.firstMatch(of: /<body data-updates="([^"]+)"/).map { String($0.1).replacing("&amp;", with: "&") }
    }
}
