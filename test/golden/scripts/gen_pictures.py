"""Pictures of many formats, and what Pillow and the processor's resize make of them: python gen_pictures.py OUT (Pillow 11.3)."""
import io
import json
import math
import os
import struct
import sys
import zlib

from PIL import Image, ImageDraw, ImageOps

LOW, HIGH, UNIT = 1024, 16384, 32  # pixels at least and at the most, and what both sides are multiples of


def drawn(width, height, mode="RGB"):
    picture = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            picture.putpixel((x, y), (x * 255 // max(1, width - 1), y * 255 // max(1, height - 1), (x * 7 + y * 3) % 256 // 2))
    draw = ImageDraw.Draw(picture)
    draw.ellipse([width // 5, height // 4, width // 2, height * 3 // 4], fill=(230, 40, 60))
    draw.rectangle([width // 2, height // 8, width * 4 // 5, height // 2], fill=(20, 160, 220))
    draw.line([0, height, width, 0], fill=(255, 255, 255), width=max(1, width // 60))
    if "A" in mode:
        alpha = Image.linear_gradient("L").resize((width, height))
        picture.putalpha(alpha)
    return picture.convert(mode)


def deep_png(width, height):
    """16 bits a channel, which Pillow reads and does not write."""
    rows = b"".join(
        b"\0" + b"".join(struct.pack(">HHH", x * 65535 // width, y * 65535 // height, (x * y * 31) % 65536) for x in range(width))
        for y in range(height)
    )
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def saved(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(drawn(90, 60), "JPEG", quality=92, exif=exif)


def frames(kind, **options):
    others = [drawn(80, 64).rotate(90 * i) for i in (1, 2)]
    return saved(drawn(80, 64), kind, save_all=True, append_images=others, duration=80, **options)


def transparent_palette(kind):
    picture = drawn(96, 80).quantize(32)
    return saved(picture, kind, transparency=3)


CASES = {
    "rgb.png": lambda: saved(drawn(300, 200), "PNG"),
    "rgba.png": lambda: saved(drawn(140, 100, "RGBA"), "PNG"),
    "grey.png": lambda: saved(drawn(120, 90, "L"), "PNG"),
    "grey_alpha.png": lambda: saved(drawn(120, 90, "LA"), "PNG"),
    "palette.png": lambda: saved(drawn(128, 96).quantize(64), "PNG"),
    "palette_transparent.png": lambda: transparent_palette("PNG"),
    "one_bit.png": lambda: saved(drawn(100, 100).convert("1"), "PNG"),
    "sixteen_bits.png": lambda: deep_png(70, 50),
    "jpeg_420.jpg": lambda: saved(drawn(200, 150), "JPEG", quality=90, subsampling=2),
    "jpeg_444.jpg": lambda: saved(drawn(200, 150), "JPEG", quality=90, subsampling=0),
    "jpeg_422.jpg": lambda: saved(drawn(151, 97), "JPEG", quality=85, subsampling=1),
    "grey.jpg": lambda: saved(drawn(130, 110, "L"), "JPEG", quality=90),
    "cmyk.jpg": lambda: saved(drawn(96, 128).convert("CMYK"), "JPEG", quality=92),
    "progressive.jpg": lambda: saved(drawn(180, 120), "JPEG", quality=80, progressive=True),
    **{f"exif_{n}.jpg": (lambda n=n: turned(n)) for n in range(1, 9)},
    "lossy.webp": lambda: saved(drawn(150, 110), "WEBP", quality=85),
    "lossless.webp": lambda: saved(drawn(150, 110), "WEBP", lossless=True),
    "alpha.webp": lambda: saved(drawn(110, 150, "RGBA"), "WEBP", lossless=True, exact=True),
    "animated.webp": lambda: frames("WEBP", lossless=True),
    "plain.gif": lambda: saved(drawn(100, 70).quantize(128), "GIF"),
    "animated.gif": lambda: frames("GIF"),
    "transparent.gif": lambda: transparent_palette("GIF"),
    "rgb.tiff": lambda: saved(drawn(90, 70), "TIFF"),
    "lzw.tiff": lambda: saved(drawn(90, 70), "TIFF", compression="tiff_lzw"),
    "cmyk.tiff": lambda: saved(drawn(60, 80).convert("CMYK"), "TIFF", compression="tiff_lzw"),
    "photo.avif": lambda: saved(drawn(128, 96), "AVIF", quality=90, subsampling="4:4:4"),
    "one_pixel.png": lambda: saved(Image.new("RGB", (1, 1), (12, 200, 99)), "PNG"),
    "odd.png": lambda: saved(drawn(31, 33), "PNG"),
    "narrow.png": lambda: saved(drawn(3, 500), "PNG"),
    "wide.png": lambda: saved(drawn(1000, 40), "PNG"),
    "exact.png": lambda: saved(drawn(128, 96), "PNG"),
    "huge.jpg": lambda: saved(drawn(1600, 1200), "JPEG", quality=70),
    "two_pixels.png": lambda: saved(drawn(2, 1), "PNG"),
}


def smart_resize(height, width):
    tall, wide = (round(side / UNIT) * UNIT for side in (height, width))
    if tall * wide > HIGH:
        shrink = math.sqrt(height * width / HIGH)
        return tuple(max(UNIT, math.floor(side / shrink / UNIT) * UNIT) for side in (height, width))
    if tall * wide < LOW:
        grow = math.sqrt(LOW / (height * width))
        return tuple(math.ceil(side * grow / UNIT) * UNIT for side in (height, width))
    return tall, wide


def seen(data):
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture)
    picture = picture.convert("RGB")
    height, width = smart_resize(picture.height, picture.width)
    return picture.size, picture.resize((width, height), Image.Resampling.BICUBIC)


def main(out):
    os.makedirs(out, exist_ok=True)
    facts = {"minPixels": LOW, "maxPixels": HIGH, "cases": {}}
    for name, make in CASES.items():
        data = make()
        size, picture = seen(data)
        with open(os.path.join(out, name), "wb") as file:
            file.write(data)
        picture.save(os.path.join(out, f"{name}.expected.png"), "PNG", optimize=True)
        facts["cases"][name] = {"size": list(size), "resized": list(picture.size)}
    with open(os.path.join(out, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
