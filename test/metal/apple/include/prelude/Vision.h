#pragma once
#import <CoreGraphics/CoreGraphics.h>
#import <Foundation/Foundation.h>
