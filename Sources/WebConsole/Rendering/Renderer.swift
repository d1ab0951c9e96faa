import Model
import Mustache
package import PageParts

/// Writes pages: values in, HTML out. Made once when the program starts.
///
/// No page contains an inline script, an inline style or an attribute `style`; the geometry of charts is in attributes of SVG.
package struct Renderer: Sendable {
    /// Templates, styles, scripts and icons.
    package let files: ConsoleFiles
    private let library: MustacheLibrary
    /// Writes what a template lacks into the page, for tests.
    private let check: TemplateCheck?
    private let outlines = Outlines(limitBytes: Self.outlineBytes)

    /// 16 MiB: some thousand shapes. All pages have several hundred; charts have one for each number of moments.
    private static let outlineBytes = 16 << 20
    /// The beginning of what a strict renderer writes where a template references a field that its view lacks.
    package static let faultMark = "⟦template: "

    /// - Parameters:
    ///   - files: those of the program.
    ///   - isStrict: whether pages contain the faults of templates, each behind `faultMark`.
    /// - Throws: `ConsoleFilesError` for a template that cannot be parsed.
    package init(_ files: ConsoleFiles, isStrict: Bool = false) throws(ConsoleFilesError) {
        self.files = files
        var templates: [String: MustacheTemplate] = [:]
        for (name, source) in files.templates {
            do {
                // Values are escaped when they become views (`Escaping`); the library must not escape them again.
                templates[name] = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + source)
            } catch {
                throw ConsoleFilesError(description: "the template \(name) cannot be parsed: \(error)")
            }
        }
        library = MustacheLibrary(templates: templates)
        check = isStrict ? try TemplateCheck(files.templates) : nil
    }

    /// A renderer with the files of the program.
    ///
    /// - Throws: `ConsoleFilesError`.
    package static func bundled(isStrict: Bool = false) throws(ConsoleFilesError) -> Renderer {
        try Renderer(try ConsoleFiles.bundled(), isStrict: isStrict)
    }

    /// The files that browsers load.
    package var assets: [Asset] { files.assets }

    /// Renders one template.
    func markup(_ template: String, _ view: View) -> Markup {
        let shape = ViewShape(template, view)
        let outline = outlines.outline(shape.key) { rendered(template, view) }
        return outline.filled(shape.texts)
    }

    /// The markup that a template writes around the texts of views that differ from this one only in their texts.
    func outline(_ template: String, _ view: View) -> Outline {
        outlines.outline(ViewShape(template, view).key) { rendered(template, view) }
    }

    private func rendered(_ template: String, _ view: View) -> Outline {
        var html = library.render(view.marked.written, withTemplate: template) ?? ""
        if let check {
            for fault in check.faults(template, view) { html += Escaping.text("\(Self.faultMark)\(fault)⟧") }
        }
        return Outline(html)
    }

    // MARK: Pages

    /// A page of a tenant.
    ///
    /// - Parameters:
    ///   - content: what the page shows.
    ///   - request: the request, whose `secret`, `notice`, `typed` and `errors` are shown too.
    ///   - path: the page's path below `/t/{tenant}/` with its values, percent-coded: `messages/0198…`.
    ///   - frame: that of the same request and path; nil: it is not written yet.
    /// - Returns: the document.
    package func page(
        _ content: PageContent,
        _ request: PageRequest,
        path: String,
        in frame: PageFrame? = nil
    ) -> [UInt8] {
        var content = content
        // Updates are parts of the page without a form's answer: they would remove its question, its errors, its secret or what it reveals.
        if !request.typed.isEmpty || request.secret != nil || request.isRevealed { content.live = [] }
        let writer = FrameWriter(PageWriter(self, WritingPlace(request, path: path)), request)
        return Array(writer.document(content, in: frame ?? writer.frame).html.utf8)
    }

    /// The parts of a page around its content, which do not depend on it.
    package func frame(_ request: PageRequest, path: String) -> PageFrame {
        FrameWriter(PageWriter(self, WritingPlace(request, path: path)), request).frame
    }

    /// A page outside of a tenant: sign-in, invitation, choice of the tenant, the account. Its links and forms have paths below `/`.
    package func bare(_ content: PageContent, _ request: BareRequest) -> [UInt8] {
        let writer = PageWriter(self, WritingPlace(request))
        return Array(BareWriter(writer, request).document(content).html.utf8)
    }

    /// The parts of a page that live updates replace, by the id of their element. The server sends those that changed (`Fragment.event`).
    package func fragments(_ content: PageContent, _ request: PageRequest, path: String) -> [Fragment] {
        let writer = PageWriter(self, WritingPlace(request, path: path))
        return writer.fragments(content)
    }
}

/// A part of a page.
package struct Fragment: Sendable, Hashable {
    /// The `id` of the element that it replaces.
    package var id: String
    package var html: String

    /// The event by which it is sent to an open page. A client resumes at the position `id`.
    package func event(id position: String?) -> [UInt8] {
        let data = JSONWriter.text(["id": .string(id), "html": .string(html)])
        let head = position.map { "id: \($0.filter { !$0.isNewline && $0 != "\0" })\n" } ?? ""
        return Array("\(head)event: fragment\ndata: \(data)\n\n".utf8)
    }
}
