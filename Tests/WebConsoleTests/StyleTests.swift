import Foundation
import Testing

@testable import WebConsole

/// The styles of the console, and the pictures of it in the README.
struct StyleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The declarations of the two places that make a page dark: the choice of a person, and the setting of the system.
    private func darkStyles(_ styles: String) -> [[String]] {
        let places = [":root[data-theme=dark]{", ":root:not([data-theme=light]){"]
        return places.compactMap { place in
            styles.firstRange(of: place).map { found in
                styles[found.upperBound...].prefix { $0 != "}" }.split(separator: ";")
                    .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            }
        }
    }

    /// The dark theme changes no sizes and no places, so that texts that are cut off are found in either theme.
    @Test func themesDifferInColoursAlone() throws {
        let file = try #require(try ConsoleFiles.bundled().assets.first { $0.path.hasSuffix(".css") })
        let styles = String(decoding: file.bytes, as: UTF8.self)
        let dark = darkStyles(styles)
        #expect(dark.count == 2 && dark.first == dark.last)
        for declaration in dark.joined() {
            let isColour = declaration.wholeMatch(of: /--[a-z-]+:#[0-9a-f]{3,6}/) != nil
            #expect(isColour || declaration == "color-scheme:dark", "\(declaration)")
        }
        // Only these two places and the comment at the beginning name a theme.
        #expect(styles.components(separatedBy: "data-theme").count - 1 == 3)
        #expect(styles.components(separatedBy: "prefers-color-scheme").count - 1 == 1)
    }

    /// `scripts/screenshots` takes them.
    @Test func theReadmeShowsTwoPictures() throws {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        let pictures = text.matches(of: /!\[([^\]]+)\]\((docs\/images\/[a-z]+\.webp)\)/)
        let names = Set(pictures.map { String($0.output.2) })
        #expect(names.count == 2)
        for name in names {
            let bytes = try Data(contentsOf: Self.root.appending(path: name))
            #expect(bytes.prefix(4) == Data("RIFF".utf8) && bytes.count <= 150_000, "\(name)")
        }
        // A text for people who do not see the pictures.
        for picture in pictures { #expect(picture.output.1.count > 20, "\(picture.output.2)") }
    }
}
