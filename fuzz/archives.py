"""Files whose parts have checksums or much empty space: an input is the part that matters."""

from __future__ import annotations

import io
import re
import zipfile

__all__ = ["ods_of", "sparse", "unsparse", "xlsx_of"]

OFFICE = "http://schemas.openxmlformats.org"
TYPES = f"""<Types xmlns="{OFFICE}/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/></Types>"""
RELATION = f"""<Relationships xmlns="{OFFICE}/package/2006/relationships">
<Relationship Id="r1" Type="{OFFICE}/officeDocument/2006/relationships/%s" Target="%s"/></Relationships>"""
WORKBOOK = f"""<workbook xmlns="{OFFICE}/spreadsheetml/2006/main"
xmlns:r="{OFFICE}/officeDocument/2006/relationships"><sheets>
<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>"""
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
MANIFEST = f"""<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
<m:file-entry m:full-path="/" m:media-type="{ODS_TYPE}"/></m:manifest>"""


def xlsx_of(sheet: bytes) -> bytes:
    """Return the Excel file with this sheet."""
    return _archive(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": RELATION % ("officeDocument", "xl/workbook.xml"),
            "xl/workbook.xml": WORKBOOK,
            "xl/_rels/workbook.xml.rels": RELATION % ("worksheet", "worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": sheet,
        }
    )


def ods_of(content: bytes) -> bytes:
    """Return the OpenDocument file with this content."""
    return _archive({"mimetype": ODS_TYPE, "META-INF/manifest.xml": MANIFEST, "content.xml": content})


def _archive(members: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def sparse(file: bytes) -> bytes:
    """Return a file with each run of zeros as a zero and the length of the run, in three bytes."""
    return re.sub(rb"\0{1,16777215}", lambda run: b"\0" + len(run[0]).to_bytes(3, "little"), file)


def unsparse(data: bytes) -> bytes:
    """Return the file that `sparse` makes these bytes of."""
    return re.sub(rb"(?s)\0(...)", lambda run: bytes(min(int.from_bytes(run[1], "little"), 1 << 20)), data)
