import Foundation
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

/// Writes sample pages to the folder `CONSOLE_SAMPLES`, to look at them in a browser.
struct SampleFilesTests {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["CONSOLE_SAMPLES"] != nil))
    func samplesAreWritten() throws {
        let folder = URL(filePath: ProcessInfo.processInfo.environment["CONSOLE_SAMPLES"] ?? "")
        let renderer = try Renderer.bundled(isStrict: true)
        for language in Language.allCases {
            for theme in ["light", "dark"] {
                var request = Sample.request(language)
                request.theme = theme
                let name = "\(language.rawValue)-\(theme).html"
                let overview = try OverviewPage().content(request, OverviewPageTests.answers())
                let help = try HelpPage().content(request, Answers())
                let parts = Sample.content(language == .ko ? "단말 토큰" : "Device token")
                for (kind, content) in [("overview", overview), ("help", help), ("parts", parts)] {
                    let page = renderer.page(content, request, path: kind == "overview" ? "" : kind)
                    try Data(page).write(to: folder.appending(path: "\(kind)-\(name)"))
                }
            }
        }
        for asset in renderer.assets {
            let name = asset.path.split(separator: "/").last.map(String.init) ?? ""
            try Data(asset.bytes).write(to: folder.appending(path: name))
        }
    }
}
