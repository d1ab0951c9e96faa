import Model
import PageParts

/// The parts of the document around the content of a page of a tenant. They are written while the answers for the content are awaited.
package struct PageFrame: Sendable {
    let fields: [String: View]
}

/// Writes what surrounds a page of a tenant: sidebar, top bar, phone tabs and palette.
struct FrameWriter: Sendable {
    /// A page of the menu.
    private struct Item {
        var path: String
        var entry: MenuEntry
    }

    let writer: PageWriter
    let request: PageRequest

    init(_ writer: PageWriter, _ request: PageRequest) {
        self.writer = writer
        self.request = request
    }

    private var place: WritingPlace { writer.place }
    private func text(_ text: Text) -> String { text(request.language) }

    /// The document of a content.
    func document(_ content: PageContent, in frame: PageFrame) -> Markup {
        var fields = frame.fields
        fields["title"] = .text(content.title)
        fields["updates"] = content.live.isEmpty ? View.none : .text(updates)
        fields["body"] = .markup(writer.body(content, notice: request.notice, secret: request.secret))
        return writer.markup("frame", fields)
    }

    /// The pages of the menu that the account may open.
    private var items: [Item] {
        Pages.all.compactMap { page in
            guard request.account.may(page.permission), let entry = page.menu else { return nil }
            return Item(path: page.path, entry: entry)
        }
    }

    /// The parts of the document that do not depend on its content.
    var frame: PageFrame {
        let (files, items) = (writer.renderer.files, items)
        return PageFrame(fields: [
            "language": .text(request.language.rawValue), "theme": .optional(request.theme),
            "brand": .text(text(CommonText.brand)),
            "styles": .text(files.path(of: "console.css")), "icon": .text(files.path(of: "icon.svg")),
            "scripts": .each(ConsoleFiles.scripts) { .text(files.path(of: $0)) },
            "icons": .markup(Markup(trusted: files.icons)), "skip": .text(text(CommonText.skip)),
            "home": .text(place.href("")), "help": .text(place.href("help")),
            "helpLabel": .text(text(CommonText.keyboard)), "menuLabel": .text(text(CommonText.menu)),
            "menu": .markup(menu(items)), "pickers": .each(pickers) { .markup($0) }, "find": find,
            "switches": .markup(writer.switches(theme: request.theme, back: place.here)),
            "accountMenu": .markup(
                writer.accountMenu(request.account.name, role: text(CommonText.role(request.account.role)))
            ),
            "tabsLabel": .text(text(CommonText.tabs)), "tabs": tabs(items), "moreLabel": .text(text(CommonText.more)),
            "palette": .markup(palette),
        ])
    }

    /// The stream of updates of this page.
    private var updates: String {
        let query = WritingPlace.text(of: place.zonedQuery).dropFirst()
        return ConsolePaths.stream(request.tenant)
            + WritingPlace.text(of: [.init("page", "/" + place.path), .init("query", String(query))])
    }

    // MARK: Menu

    /// Whether a page is the one that is shown, or above it.
    private func isCurrent(_ path: String) -> Bool {
        path == place.path || (!path.isEmpty && place.path.hasPrefix(path + "/"))
    }

    private func menu(_ items: [Item]) -> Markup {
        let sections = MenuEntry.Section.allCases.compactMap { section -> View? in
            let pages = items.filter { $0.entry.section == section }
            guard !pages.isEmpty else { return nil }
            return .fields([
                "label": section == .delivery ? .none : .text(text(CommonText.section(section))),
                "pages": .each(pages) { entry($0) },
            ])
        }
        return writer.markup("menu", ["sections": .list(sections)])
    }

    private func entry(_ item: Item) -> View {
        .fields([
            "href": .text(place.href(item.path)), "label": .text(text(item.entry.label)),
            "icon": .text(item.entry.icon.rawValue), "isCurrent": .flag(isCurrent(item.path)),
            "key": .optional(item.entry.key.map(String.init)),
        ])
    }

    /// The first four of the tabs on phones; the fifth opens the menu.
    private func tabs(_ items: [Item]) -> View {
        let paths = ["", "messages", "compose", "find"]
        return .each(paths.compactMap { path in items.first { $0.path == path } }) { entry($0) }
    }

    private var find: View {
        guard request.account.may(.figures) else { return .none }
        return .fields([
            "action": .text(place.action("find")), "hidden": writer.hidden("find", []),
            "label": .text(text(CommonText.find)), "placeholder": .text(text(CommonText.findPlaceholder)),
        ])
    }

    private var palette: Markup {
        writer.markup(
            "palette",
            [
                "label": .text(text(CommonText.palette)), "placeholder": .text(text(CommonText.palettePlaceholder)),
                "find": .text(text(CommonText.find)),
            ]
        )
    }

    // MARK: Pickers

    private var pickers: [Markup] {
        var pickers: [Markup] = []
        if request.account.tenants.count > 1 {
            let choices = request.account.tenants.prefix(200).map { tenant in
                choice(ConsolePaths.tenant(tenant), tenant, isSelected: tenant == request.tenant)
            }
            pickers.append(picker(CommonText.tenant, request.tenant, style: "tenant", choices))
        }
        if !request.apps.isEmpty {
            let app = request.value("app")
            let all = choice(place.href(changing: [.init("app", "")]), text(CommonText.allApps), isSelected: app == nil)
            let choices = request.apps.prefix(200).map {
                choice(place.href(changing: [.init("app", $0)]), $0, isSelected: $0 == app)
            }
            pickers.append(picker(CommonText.app, app ?? text(CommonText.allApps), style: "app", [all] + choices))
        }
        pickers.append(range)
        return pickers
    }

    private func choice(_ href: String, _ label: String, isSelected: Bool) -> View {
        .fields(["href": .text(href), "label": .text(label), "isSelected": .flag(isSelected)])
    }

    private func picker(
        _ label: Text,
        _ current: String,
        style: String,
        _ choices: [View],
        range: View = .none
    ) -> Markup {
        writer.markup(
            "picker",
            [
                "style": .text(style), "box": .text(style == "range" ? "box" : ""), "label": .text(text(label)),
                "current": .text(current), "icon": style == "range" ? .text("calendar") : .none,
                "choices": .list(choices), "range": range,
            ]
        )
    }

    /// Zones that are offered; any other can be typed.
    private static let zones = [
        "Asia/Seoul", "Asia/Tokyo", "Asia/Singapore", "America/Los_Angeles", "America/New_York", "Europe/Berlin",
        "Europe/London", "UTC",
    ]

    private var range: Markup {
        let range = ShownRange(request)
        let ends = [PageRequest.Parameter("from", ""), .init("to", "")]
        let choices = ShownRange.Preset.allCases.map { preset in
            choice(
                place.href(changing: ends + [.init("range", preset.rawValue)]),
                text(preset.words),
                isSelected: preset == range.preset
            )
        }
        let replaced = ["range", "from", "to", "zone", "after"]
        let others = place.query.filter { !replaced.contains($0.name) && !$0.value.isEmpty }
        let form = View.fields([
            "action": .text(place.action(place.path)), "hidden": .each(others) { writer.field($0.name, $0.value) },
            "fromLabel": .text(text(CommonText.from)), "toLabel": .text(text(CommonText.to)),
            "zoneLabel": .text(text(CommonText.zone)), "apply": .text(text(CommonText.apply)),
            "from": .text(String(place.format.fieldValue(range.from).prefix(10))),
            "to": .text(String(place.format.fieldValue(range.to + .milliseconds(-1)).prefix(10))),
            "zone": .text(place.format.zone.text), "zones": .each(Self.zones) { .text($0) },
        ])
        let current = "\(range.words(request.language)) · \(place.format.zoneName)"
        return picker(CommonText.range, current, style: "range", choices, range: form)
    }
}

extension PageWriter {
    /// The buttons that change the language and the theme.
    ///
    /// - Parameters:
    ///   - theme: the present one; nil: that of the system.
    ///   - back: where the server returns to.
    /// - Returns: a form with two buttons.
    func switches(theme: String?, back: String) -> Markup {
        let other: Language = place.language == .ko ? .en : .ko
        let next = theme == "dark" ? "light" : theme == "light" ? "system" : "dark"
        return markup(
            "switches",
            [
                "action": .text(ConsolePaths.preferences),
                "hidden": .list([field(FormNames.token, place.formToken), field("back", back)]),
                "language": .text(other.rawValue), "languageLabel": .text(other == .ko ? "한국어" : "English"),
                "theme": .text(next), "themeLabel": .text(text(CommonText.theme(next))),
            ]
        )
    }

    func accountMenu(_ name: String, role: String?) -> Markup {
        markup(
            "account",
            [
                "label": .text(text(CommonText.account)), "name": .text(name),
                "initial": .text(name.prefix(1).uppercased()), "role": .optional(role),
                "account": .text(ConsolePaths.account), "accountLabel": .text(text(CommonText.ownAccount)),
                "signOut": .text(ConsolePaths.signOut),
                "hidden": .list([field(FormNames.token, place.formToken)]),
                "signOutLabel": .text(text(CommonText.signOut)),
            ]
        )
    }
}

/// Writes what surrounds a page outside of a tenant.
struct BareWriter: Sendable {
    let writer: PageWriter
    let request: BareRequest

    init(_ writer: PageWriter, _ request: BareRequest) {
        self.writer = writer
        self.request = request
    }

    func document(_ content: PageContent) -> Markup {
        let files = writer.renderer.files
        return writer.markup(
            "bare",
            [
                "language": .text(request.language.rawValue), "theme": .optional(request.theme),
                "title": .text(content.title), "brand": .text(CommonText.brand(request.language)),
                "styles": .text(files.path(of: "console.css")), "icon": .text(files.path(of: "icon.svg")),
                "scripts": .each(["frame.js", "forms.js"]) { .text(files.path(of: $0)) },
                "icons": .markup(Markup(trusted: files.icons)), "skip": .text(CommonText.skip(request.language)),
                "switches": .markup(writer.switches(theme: request.theme, back: request.path)),
                "accountMenu": .optional(request.account.map { writer.accountMenu($0, role: nil) }),
                "body": .markup(writer.body(content, notice: request.notice, secret: request.secret)),
            ]
        )
    }
}
